/**
 * Gated feed-forward.
 *    h   = f(W_gate x + b) * (W_up x + b)      f: a part of the axis `activation`
 *    h   = norm(h)                             innerNorm
 *    out = W_down h + b
 * x, out [rows, hidden], h [rows, size].  Sources: arXiv:2002.05202; 2504.12285 (inner norm).
 */
import {
  definePart,
  Linear,
  linearSlots,
  normPart,
  schema,
  type Activation,
  type FeedForward,
  type Norm,
  type NormPlan,
  type Ops,
  type PartContext,
  type PartPlan,
  type Tensor,
} from '@kvad/core/plugin';

export interface GluOptions {
  readonly activation: PartPlan;
  /** Columns of gate and up. */
  readonly size: number;
  /** Of all three projections. */
  readonly bias: boolean;
  readonly innerNorm?: NormPlan;
}

export const glu = definePart<FeedForward, GluOptions>({
  kind: 'glu',
  about: 'gated feed-forward: down(f(gate) * up)',
  options: schema.object({ activation: schema.part, size: schema.size, bias: schema.flag, innerNorm: schema.norm }, [
    'innerNorm',
  ]),
  nested: ({ activation, size: inner, innerNorm }) => [
    { axis: 'activation', part: activation },
    ...(innerNorm === undefined ? [] : [{ axis: 'norm' as const, part: normPart(innerNorm, inner) }]),
  ],
  slots: ({ activation, size: inner, bias, innerNorm }, dims, parts) => [
    ...linearSlots('gate', inner, dims.hiddenSize, bias),
    ...linearSlots('up', inner, dims.hiddenSize, bias),
    ...linearSlots('down', dims.hiddenSize, inner, bias),
    ...parts.slots('activation', activation, dims, 'activation.'),
    ...(innerNorm === undefined ? [] : parts.normSlots(innerNorm, inner, 'innerNorm.')),
  ],
  create: (options, context) => new Glu(options, context),
});

class Glu implements FeedForward {
  readonly state = [];
  private readonly ops: Ops;
  private readonly gate: Linear;
  private readonly up: Linear;
  private readonly down: Linear;
  private readonly activation: Activation;
  private readonly innerNorm: Norm | null;

  constructor({ activation, size: inner, bias, innerNorm }: GluOptions, { dims, weights, ops, parts }: PartContext) {
    this.ops = ops;
    this.gate = new Linear('gate', bias, weights, ops);
    this.up = new Linear('up', bias, weights, ops);
    this.down = new Linear('down', bias, weights, ops);
    this.activation = parts.create('activation', activation, dims, weights.under('activation.'), ops);
    this.innerNorm =
      innerNorm === undefined ? null : parts.createNorm(innerNorm, inner, weights.under('innerNorm.'), ops);
  }

  forward(x: Tensor, out: Tensor): void {
    const mark = this.ops.mark();
    const h = this.gate.of(x);
    this.activation.gated(h, this.up.of(x), h);
    this.innerNorm?.forward(h, h);
    this.down.into(h, out);
    this.ops.release(mark);
  }
}
