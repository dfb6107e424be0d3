import type { Ops, PartWeights, Tensor, WeightSlot } from '@kvad/core/plugin';
import type { AttentionOptions, QkNormOptions } from './attention-options.js';

/** The weights of the norms of queries and keys: `qNorm.weight`, `qNorm.bias`, `kNorm.weight`, `kNorm.bias`. */
export const qkNormSlots = ({ heads, kvHeads, headDim, qkNorm }: AttentionOptions): readonly WeightSlot[] => {
  if (qkNorm === undefined) return [];
  return [
    { norm: 'qNorm', count: heads },
    { norm: 'kNorm', count: kvHeads },
  ].flatMap(({ norm, count }) => {
    const shape = { head: [headDim], 'head-own': [count, headDim], full: [count * headDim] }[qkNorm.scope];
    return [
      ...(qkNorm.weight ? [{ name: `${norm}.weight`, shape, role: 'exact' as const }] : []),
      ...(qkNorm.bias ? [{ name: `${norm}.bias`, shape, role: 'exact' as const }] : []),
    ];
  });
};

/** Normalises queries or keys `[rows, heads * headDim]` in place. */
export type HeadNorm = (x: Tensor) => void;

/** `name` is `qNorm` or `kNorm`. */
export const createQkNorm = (
  name: string,
  norm: QkNormOptions,
  headDim: number,
  weights: PartWeights,
  ops: Ops,
): HeadNorm => {
  const weight = norm.weight ? weights.vector(`${name}.weight`) : null;
  const bias = norm.bias ? weights.vector(`${name}.bias`) : null;
  return (x) => {
    const options = { size: norm.scope === 'full' ? x.cols : headDim, eps: norm.eps, offset: norm.offset, weight };
    if (norm.kind === 'rms') ops.rmsNorm(x, x, options);
    else ops.layerNorm(x, x, { ...options, bias });
  };
};
