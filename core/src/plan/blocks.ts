import type { LayerPlan, NormPlan, OpPlan } from '@kvad/schemas';

/** A mixer or FFN as a family writes it: `kind`, and its options beside it. */
export interface OpChoice {
  readonly kind: string;
  readonly [option: string]: unknown;
}

export interface LayerOps {
  readonly mixer: OpChoice;
  readonly ffn: OpChoice;
}

type Norms = OpPlan['norm'];
type Residual = OpPlan['residual'];

const ADD: Residual = { scale: 1, keep: 1, from: 'previous' };

export const op = (
  axis: OpPlan['axis'],
  choice: OpChoice,
  norm: Norms,
  residual: Residual = ADD,
  name: string = axis,
): OpPlan => {
  const { kind, ...options } = choice;
  return { name, axis, kind, options, norm, residual };
};

export const residualBlock = (ops: OpPlan[]): LayerPlan => ({ block: { kind: 'residual', options: {} }, ops });

/** `x += op(norm(x))`, twice. `scale` multiplies what is added. */
export const pre = (norm: NormPlan, { mixer, ffn }: LayerOps, scale = 1): LayerPlan => {
  const residual = { ...ADD, scale };
  return residualBlock([op('mixer', mixer, { before: norm }, residual), op('ffn', ffn, { before: norm }, residual)]);
};

/** `x += norm(op(x))`, twice. */
export const post = (norm: NormPlan, { mixer, ffn }: LayerOps): LayerPlan =>
  residualBlock([op('mixer', mixer, { after: norm }), op('ffn', ffn, { after: norm })]);

/** `x += norm(op(norm(x)))`, twice. */
export const sandwich = (norm: NormPlan, { mixer, ffn }: LayerOps, scale = 1): LayerPlan => {
  const residual = { ...ADD, scale };
  const norms = { before: norm, after: norm };
  return residualBlock([op('mixer', mixer, norms, residual), op('ffn', ffn, norms, residual)]);
};

/**
 * `x += mixer(norm(x)) + ffn(norm(x))`, both on the block's input. With one norm the weight rules name the same
 * tensor for `mixer.norm.before` and `ffn.norm.before`; with two each has its own.
 */
export const parallel = (norm: NormPlan, { mixer, ffn }: LayerOps): LayerPlan =>
  residualBlock([
    op('mixer', mixer, { before: norm }, { ...ADD, from: 'input' }),
    op('ffn', ffn, { before: norm }, { ...ADD, from: 'input' }),
  ]);

/** One op a layer: `x += op(norm(x))`. */
export const single = (norm: NormPlan, axis: OpPlan['axis'], choice: OpChoice): LayerPlan =>
  residualBlock([op(axis, choice, { before: norm })]);

/** `w * x / rms(x)`; `offset` 1: `(1 + w)`. */
export const rms = (eps: number, offset: 0 | 1 = 0): NormPlan => ({
  kind: 'rms',
  eps,
  offset,
  weight: true,
  bias: false,
});

export const layerNorm = (
  eps: number,
  options: { weight?: boolean; bias?: boolean; offset?: 0 | 1 } = {},
): NormPlan => ({
  kind: 'layernorm',
  eps,
  offset: options.offset ?? 0,
  weight: options.weight ?? true,
  bias: options.bias ?? true,
});
