/**
 * Two-matrix feed-forward.
 *    h   = f(W_up x + b)                       f: a part of the axis `activation`
 *    out = W_down h + b
 * x, out [rows, hidden], h [rows, size].  Source: arXiv:1706.03762, section 3.3.
 */
import {
  definePart,
  Linear,
  linearSlots,
  schema,
  type Activation,
  type FeedForward,
  type Ops,
  type PartContext,
  type PartPlan,
  type Tensor,
} from '@kvad/core/plugin';

export interface MlpOptions {
  readonly activation: PartPlan;
  /** Columns between the projections. */
  readonly size: number;
  /** Of both projections. */
  readonly bias: boolean;
}

export const mlp = definePart<FeedForward, MlpOptions>({
  kind: 'mlp',
  about: 'two-matrix feed-forward: down(f(up))',
  options: schema.object({ activation: schema.part, size: schema.size, bias: schema.flag }),
  nested: ({ activation }) => [{ axis: 'activation', part: activation }],
  slots: ({ activation, size: inner, bias }, dims, parts) => [
    ...linearSlots('up', inner, dims.hiddenSize, bias),
    ...linearSlots('down', dims.hiddenSize, inner, bias),
    ...parts.slots('activation', activation, dims, 'activation.'),
  ],
  create: (options, context) => new Mlp(options, context),
});

class Mlp implements FeedForward {
  readonly state = [];
  private readonly ops: Ops;
  private readonly up: Linear;
  private readonly down: Linear;
  private readonly activation: Activation;

  constructor({ activation, bias }: MlpOptions, { dims, weights, ops, parts }: PartContext) {
    this.ops = ops;
    this.up = new Linear('up', bias, weights, ops);
    this.down = new Linear('down', bias, weights, ops);
    this.activation = parts.create('activation', activation, dims, weights.under('activation.'), ops);
  }

  forward(x: Tensor, out: Tensor): void {
    const mark = this.ops.mark();
    const h = this.up.of(x);
    this.activation.forward(h, h);
    this.down.into(h, out);
    this.ops.release(mark);
  }
}
