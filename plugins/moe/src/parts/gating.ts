/** How an expert joins its gate and up: see `MoeOptions.gating`. */
import type { Activation, GatingRule, Ops, PartContext, Tensor, Vector } from '@kvad/core/plugin';

/** gate, up -> gate, all `[rows * k, size]`; what up holds afterwards is undefined. */
export type Gating = (gate: Tensor, up: Tensor) => void;

export const createGating = (rule: GatingRule, size: number, context: PartContext): Gating => {
  const { ops } = context;
  if (rule.kind === 'clamped-swish')
    return clampedSwish(rule, ops.constant(new Float32Array(size).fill(rule.shift)), ops);
  const activation = createActivation(rule.activation, context);
  return (gate, up) => {
    activation.gated(gate, up, gate);
  };
};

const createActivation = (
  part: Extract<GatingRule, { kind: 'activation' }>['activation'],
  { dims, weights, ops, parts }: PartContext,
): Activation => parts.create('activation', part, dims, weights.under('activation.'), ops);

/** `g σ(alpha g) (u + shift)` with `g = min(gate, limit)` and `u = up` cut to `[-limit, limit]`. */
const clampedSwish =
  ({ limit, alpha }: { readonly limit: number; readonly alpha: number }, shifts: Vector, ops: Ops): Gating =>
  (gate, up) => {
    ops.clamp(gate, gate, { low: null, high: limit });
    ops.clamp(up, up, { low: -limit, high: limit });
    ops.affine(up, up, { scale: null, bias: shifts });
    ops.multiply(up, gate, up);
    ops.scale(gate, gate, alpha);
    ops.gated(gate, up, gate, 'sigmoid');
  };
