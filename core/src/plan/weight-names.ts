import { from, unneeded, type SlotRule, type Transform, type WeightRule } from './weight-rules.js';

/**
 * Names that many checkpoints share, as weight rules. All stand under `{prefix}`, which `withPrefixes` fills in; those
 * of a layer under `{prefix}layers.{layer}.` unless told where layers lie. A rule for a bias that a model lacks is idle.
 */
export const LAYERS = '{prefix}layers.{layer}.';

/** `weight` and `bias` of a slot from those of a module. */
export const both = (slot: string, module: string, ...transform: readonly Transform[]): SlotRule[] =>
  ['weight', 'bias'].map((end) => from(`${slot}.${end}`, `${module}.${end}`, ...transform));

/** A slot of a layer from a module of the layer, weight and bias. */
export const inLayer = (slot: string, module: string, layers = LAYERS): SlotRule[] =>
  both(`layers.{layer}.${slot}`, `${layers}${module}`);

/** Embedding, final norm and head, and the rotary buffers of old files. */
export const ends = (names: { embedding?: string; norm?: string; head?: string } = {}): WeightRule[] => [
  from('embedding.tokens.weight', `{prefix}${names.embedding ?? 'embed_tokens'}.weight`),
  ...both('finalNorm', `{prefix}${names.norm ?? 'norm'}`),
  ...both('head', names.head ?? 'lm_head'),
  unneeded('{prefix}*rotary_emb.inv_freq', 'rope tables are made from the config'),
];

/** The norms of a layer, by slot: `{ 'mixer.norm.before': 'input_layernorm' }`. */
export const norms = (names: Readonly<Record<string, string>>, layers = LAYERS): SlotRule[] =>
  Object.entries(names).flatMap(([slot, module]) => inLayer(slot, module, layers));

/** `embed_tokens`, `norm`, `lm_head`, and a norm before each op: `input_layernorm`, `post_attention_layernorm`. */
export const standardDecoder = (): WeightRule[] => [
  ...ends(),
  ...norms({ 'mixer.norm.before': 'input_layernorm', 'ffn.norm.before': 'post_attention_layernorm' }),
];

/** `q_proj`, `k_proj`, `v_proj` and the output projection, each a tensor. */
export const separateQKV = (module = 'self_attn.', out = 'o_proj', layers = LAYERS): SlotRule[] => [
  ...inLayer('mixer.q', `${module}q_proj`, layers),
  ...inLayer('mixer.k', `${module}k_proj`, layers),
  ...inLayer('mixer.v', `${module}v_proj`, layers),
  ...inLayer('mixer.o', `${module}${out}`, layers),
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

/** Gate and up as the halves of one tensor, gate first. */
export const fusedGateUp = (module = 'mlp.gate_up_proj', down = 'mlp.down_proj'): SlotRule[] => [
  from('layers.{layer}.ffn.gate.weight', `${LAYERS}${module}.weight`, half('gate')),
  from('layers.{layer}.ffn.up.weight', `${LAYERS}${module}.weight`, half('up')),
  ...inLayer('ffn.down', down),
];

const half = (part: 'gate' | 'up'): Transform => ({ op: 'split', axis: 0, part, layout: 'halves' });

/** Two projections of a plain feed-forward. */
export const upDown = (up: string, down: string, layers = LAYERS): SlotRule[] => [
  ...inLayer('ffn.up', up, layers),
  ...inLayer('ffn.down', down, layers),
];

interface Heads {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
}

/** Queries, then keys, then values in the rows of one tensor. `first`: what is done to it before it is cut. */
export const fusedQKV = (module: string, dims: Heads, layers = LAYERS, ...first: readonly Transform[]): SlotRule[] => {
  const { heads, kvHeads, headDim } = dims;
  const cut = (slot: string, start: number, count: number): SlotRule[] =>
    both(`layers.{layer}.mixer.${slot}`, `${layers}${module}`, ...first, {
      op: 'rows',
      start: start * headDim,
      count: count * headDim,
    });
  return [...cut('q', 0, heads), ...cut('k', heads, kvHeads), ...cut('v', heads + kvHeads, kvHeads)];
};

/** Per group of query heads that share keys: their queries, then one head of keys, then one of values. */
export const groupedQKV = (module: string, { heads, kvHeads, headDim }: Heads, layers = LAYERS): SlotRule[] => {
  const queries = (heads / kvHeads) * headDim;
  const cut = (slot: string, start: number, count: number): SlotRule[] =>
    both(`layers.{layer}.mixer.${slot}`, `${layers}${module}`, {
      op: 'perGroup',
      groups: kvHeads,
      size: queries + 2 * headDim,
      start,
      count,
    });
  return [...cut('q', 0, queries), ...cut('k', queries, headDim), ...cut('v', queries + headDim, headDim)];
};
