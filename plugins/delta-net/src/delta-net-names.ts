/** Names of the tensors of hybrids of gated delta net and gated attention, as weight rules. */
import { from, inLayer, qkNorms, type HeadDims, type SlotRule, type Transform } from '@kvad/core/plugin';
import type { DeltaNetDims } from './delta-net-words.js';

const MODULE = 'linear_attn.';
const LAYER = `{prefix}layers.{layer}.${MODULE}`;
const slot = (name: string): string => `layers.{layer}.mixer.${name}`;
const input = (name: string, module: string, ...cut: readonly Transform[]): SlotRule[] =>
  inLayer(`mixer.${name}`, `${MODULE}${module}`, {}, ...cut);

/** Decay, gated norm and output projection. */
export const deltaNetEnds = (names: { norm: string; out: string } = { norm: 'norm', out: 'out_proj' }): SlotRule[] => [
  from(slot('decay.log'), `${LAYER}A_log`),
  from(slot('decay.bias'), `${LAYER}dt_bias`),
  ...inLayer('mixer.outNorm', `${MODULE}${names.norm}`),
  ...input('o', names.out),
];

const DEPTHWISE: Transform = { op: 'squeeze', axis: 1 };

/** One convolution over queries, keys and values, stored `[channels, 1, kernel]`. */
export const oneConvolution = (): SlotRule => from(slot('conv.weight'), `${LAYER}conv1d.weight`, DEPTHWISE);

/** A convolution each over queries, keys and values. */
export const threeConvolutions = (): SlotRule => ({
  slot: slot('conv.weight'),
  sources: [
    {
      tensors: ['q_conv1d', 'k_conv1d', 'v_conv1d'].map((name) => `${LAYER}${name}.weight`),
      transform: [{ op: 'concat', axis: 0 }, DEPTHWISE],
    },
  ],
});

/** An input projection each: `q_proj`, `k_proj`, `v_proj`, `g_proj`, `b_proj`, `a_proj`. */
export const separateInputs = (): SlotRule[] => [
  ...input('q', 'q_proj'),
  ...input('k', 'k_proj'),
  ...input('v', 'v_proj'),
  ...input('z', 'g_proj'),
  ...input('b', 'b_proj'),
  ...input('a', 'a_proj'),
];

/** `in_proj_qkv`: all queries, all keys, all values; `in_proj_z`, `in_proj_b`, `in_proj_a`. */
export const joinedInputs = ({ keyHeads, keyDim, valueHeads, valueDim }: DeltaNetDims): SlotRule[] => {
  const [keys, values] = [keyHeads * keyDim, valueHeads * valueDim];
  const rows = (start: number, count: number): Transform => ({ op: 'rows', start, count });
  return [
    ...input('q', 'in_proj_qkv', rows(0, keys)),
    ...input('k', 'in_proj_qkv', rows(keys, keys)),
    ...input('v', 'in_proj_qkv', rows(2 * keys, values)),
    ...input('z', 'in_proj_z'),
    ...input('b', 'in_proj_b'),
    ...input('a', 'in_proj_a'),
  ];
};

/**
 * For each key head, `in_proj_qkvz`: its queries, its keys, the values of its value heads, their gates; `in_proj_ba`: b
 * of each of its value heads, then a of each.
 */
export const groupedInputs = ({ keyHeads, keyDim, valueHeads, valueDim }: DeltaNetDims): SlotRule[] => {
  const shared = valueHeads / keyHeads;
  const values = shared * valueDim;
  const qkvz = { op: 'perGroup', groups: keyHeads, size: 2 * keyDim + 2 * values } as const;
  const ba = { op: 'perGroup', groups: keyHeads, size: 2 * shared, count: shared } as const;
  return [
    ...input('q', 'in_proj_qkvz', { ...qkvz, start: 0, count: keyDim }),
    ...input('k', 'in_proj_qkvz', { ...qkvz, start: keyDim, count: keyDim }),
    ...input('v', 'in_proj_qkvz', { ...qkvz, start: 2 * keyDim, count: values }),
    ...input('z', 'in_proj_qkvz', { ...qkvz, start: 2 * keyDim + values, count: values }),
    ...input('b', 'in_proj_ba', { ...ba, start: 0 }),
    ...input('a', 'in_proj_ba', { ...ba, start: shared }),
  ];
};

/** Attention with an output gate, whose rows stand in `q_proj` behind the queries of each head. */
export const gatedAttentionNames = ({ heads, headDim }: HeadDims): SlotRule[] => {
  const head = { op: 'perGroup', groups: heads, size: 2 * headDim, count: headDim } as const;
  return [
    ...inLayer('mixer.q', 'self_attn.q_proj', {}, { ...head, start: 0 }),
    ...inLayer('mixer.gate', 'self_attn.q_proj', {}, { ...head, start: headDim }),
    ...inLayer('mixer.k', 'self_attn.k_proj'),
    ...inLayer('mixer.v', 'self_attn.v_proj'),
    ...inLayer('mixer.o', 'self_attn.o_proj'),
    ...qkNorms(),
  ];
};
