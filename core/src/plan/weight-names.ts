import { from, unneeded, type SlotRule, type Transform, type WeightRule } from './weight-rules.js';

/**
 * Names that many checkpoints share, as weight rules. All stand under `{prefix}`, which `withPrefixes` fills in. Each
 * rule comes for weight and bias; one for a bias that a model lacks is idle.
 */
export interface Stored {
  /** Where layers lie; `{prefix}layers.{layer}.` if not given. */
  readonly layers?: string;
  /** Matrices are stored `[in, out]`. */
  readonly transposed?: boolean;
}

const LAYERS = '{prefix}layers.{layer}.';
const TRANSPOSE: Transform = { op: 'transpose' };

/** Weight and bias of a slot from those of a module; `cut` picks its rows of either. */
export const fromModule = (
  slot: string,
  module: string,
  transposed = false,
  ...cut: readonly Transform[]
): SlotRule[] => [
  from(`${slot}.weight`, `${module}.weight`, ...(transposed ? [TRANSPOSE] : []), ...cut),
  from(`${slot}.bias`, `${module}.bias`, ...cut),
];

/** A slot of a layer from a module of the layer. */
export const inLayer = (slot: string, module: string, stored: Stored = {}, ...cut: readonly Transform[]): SlotRule[] =>
  fromModule(`layers.{layer}.${slot}`, `${stored.layers ?? LAYERS}${module}`, stored.transposed, ...cut);

/** Embedding, final norm and head, and the rotary buffers of old files. */
export const ends = (names: { embedding?: string; norm?: string; head?: string } = {}): WeightRule[] => [
  from('embedding.tokens.weight', `{prefix}${names.embedding ?? 'embed_tokens'}.weight`),
  ...fromModule('finalNorm', `{prefix}${names.norm ?? 'norm'}`),
  ...fromModule('head', names.head ?? 'lm_head'),
  unneeded('{prefix}*rotary_emb.inv_freq', 'rope tables are made from the config'),
];

/** The norms of a layer, by slot: `{ 'mixer.norm.before': 'input_layernorm' }`. */
export const norms = (names: Readonly<Record<string, string>>, layers = LAYERS): SlotRule[] =>
  Object.entries(names).flatMap(([slot, module]) => inLayer(slot, module, { layers }));

/** `embed_tokens`, `norm`, `lm_head`, and a norm before each op: `input_layernorm`, `post_attention_layernorm`. */
export const standardDecoder = (): WeightRule[] => [
  ...ends(),
  ...norms({ 'mixer.norm.before': 'input_layernorm', 'ffn.norm.before': 'post_attention_layernorm' }),
];

/** One norm before two parallel ops. */
export const oneNorm = (name: string, layers = LAYERS): SlotRule[] =>
  norms({ 'mixer.norm.before': name, 'ffn.norm.before': name }, layers);

/** A norm after each op and none before: `post_attention_layernorm`, `post_feedforward_layernorm`. */
export const postNorms = (): SlotRule[] =>
  norms({ 'mixer.norm.after': 'post_attention_layernorm', 'ffn.norm.after': 'post_feedforward_layernorm' });

/** A norm before and after each op: `input_`, `post_attention_`, `pre_feedforward_`, `post_feedforward_layernorm`. */
export const sandwichNorms = (): SlotRule[] => [
  ...norms({ 'mixer.norm.before': 'input_layernorm', 'ffn.norm.before': 'pre_feedforward_layernorm' }),
  ...postNorms(),
];

/** Buffers that old files hold beside the weights of an attention module. */
export const maskBuffers = (module: string): WeightRule[] => [
  unneeded(`{prefix}${module}bias`, 'the causal mask, which is computed'),
  unneeded(`{prefix}${module}masked_bias`, 'the value of masked scores'),
];

/** `q_proj`, `k_proj`, `v_proj` and the output projection, each a tensor. */
export const separateQKV = (module = 'self_attn.', out = 'o_proj', stored: Stored = {}): SlotRule[] => [
  ...inLayer('mixer.q', `${module}q_proj`, stored),
  ...inLayer('mixer.k', `${module}k_proj`, stored),
  ...inLayer('mixer.v', `${module}v_proj`, stored),
  ...inLayer('mixer.o', `${module}${out}`, stored),
];

/** `q_norm` and `k_norm`. */
export const qkNorms = (module = 'self_attn.', names = { q: 'q_norm', k: 'k_norm' }): SlotRule[] => [
  ...inLayer('mixer.qNorm', `${module}${names.q}`),
  ...inLayer('mixer.kNorm', `${module}${names.k}`),
];

/** `gate_proj`, `up_proj`, `down_proj`. */
export const gateUpDown = (module = 'mlp.'): SlotRule[] => [
  ...inLayer('ffn.gate', `${module}gate_proj`),
  ...inLayer('ffn.up', `${module}up_proj`),
  ...inLayer('ffn.down', `${module}down_proj`),
];

/** `gate_up_proj`, gate in the first half of its rows, and `down_proj`. */
export const fusedGateUp = (module = 'mlp.'): SlotRule[] => [
  ...inLayer('ffn.gate', `${module}gate_up_proj`, {}, { op: 'split', axis: 0, part: 'gate', layout: 'halves' }),
  ...inLayer('ffn.up', `${module}gate_up_proj`, {}, { op: 'split', axis: 0, part: 'up', layout: 'halves' }),
  ...inLayer('ffn.down', `${module}down_proj`),
];

/** The two matrices of a plain feed-forward. */
export const upDown = (up: string, down: string, stored: Stored = {}): SlotRule[] => [
  ...inLayer('ffn.up', up, stored),
  ...inLayer('ffn.down', down, stored),
];

interface Heads {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
}

/** All queries, then all keys, then all values in the rows of one tensor. */
export const fusedQKV = (module: string, dims: Heads, stored: Stored = {}): SlotRule[] => {
  const { heads, kvHeads, headDim } = dims;
  const rows = (start: number, count: number) =>
    ({ op: 'rows', start: start * headDim, count: count * headDim }) as const;
  return [
    ...inLayer('mixer.q', module, stored, rows(0, heads)),
    ...inLayer('mixer.k', module, stored, rows(heads, kvHeads)),
    ...inLayer('mixer.v', module, stored, rows(heads + kvHeads, kvHeads)),
  ];
};

/** For each group of query heads that share keys: their queries, then one head of keys, then one of values. */
export const groupedQKV = (module: string, dims: Heads, stored: Stored = {}): SlotRule[] => {
  const { heads, kvHeads, headDim } = dims;
  const queries = (heads / kvHeads) * headDim;
  const group = { op: 'perGroup', groups: kvHeads, size: queries + 2 * headDim } as const;
  return [
    ...inLayer('mixer.q', module, stored, { ...group, start: 0, count: queries }),
    ...inLayer('mixer.k', module, stored, { ...group, start: queries, count: headDim }),
    ...inLayer('mixer.v', module, stored, { ...group, start: queries + headDim, count: headDim }),
  ];
};
