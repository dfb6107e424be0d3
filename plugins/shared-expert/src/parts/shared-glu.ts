import {
  Linear,
  linearSlots,
  schema,
  type Activation,
  type Dims,
  type JSONSchema,
  type NamedPart,
  type Ops,
  type PartContext,
  type PartPlan,
  type Parts,
  type Tensor,
  type WeightSlot,
} from '@kvad/core/plugin';

/** What both kinds of shared expert are told. */
export interface SharedOptions {
  readonly activation: PartPlan;
  /** Columns of gate and up; several shared experts side by side are one of their joint size. */
  readonly size: number;
  /** Of all three projections. */
  readonly bias: boolean;
}

export const SHARED_PROPERTIES: Readonly<Record<string, JSONSchema>> = {
  activation: schema.part,
  size: schema.size,
  bias: schema.flag,
};

export const sharedNested = ({ activation }: SharedOptions): readonly NamedPart[] => [
  { axis: 'activation', part: activation },
];

export const sharedSlots = ({ activation, size, bias }: SharedOptions, dims: Dims, parts: Parts): WeightSlot[] => [
  ...linearSlots('gate', size, dims.hiddenSize, bias),
  ...linearSlots('up', size, dims.hiddenSize, bias),
  ...linearSlots('down', dims.hiddenSize, size, bias),
  ...parts.slots('activation', activation, dims, 'activation.'),
];

/** `W_down (f(W_gate x + b) * (W_up x + b)) + b`. */
export class SharedGlu {
  private readonly ops: Ops;
  private readonly gate: Linear;
  private readonly up: Linear;
  private readonly down: Linear;
  private readonly activation: Activation;

  constructor({ activation, bias }: SharedOptions, { dims, weights, ops, parts }: PartContext) {
    this.ops = ops;
    this.gate = new Linear('gate', bias, weights, ops);
    this.up = new Linear('up', bias, weights, ops);
    this.down = new Linear('down', bias, weights, ops);
    this.activation = parts.create('activation', activation, dims, weights.under('activation.'), ops);
  }

  /** Into a new tensor `[rows, hidden]`. */
  of(x: Tensor): Tensor {
    const y = this.ops.tensor(x.rows, x.cols);
    const mark = this.ops.mark();
    const h = this.gate.of(x);
    this.activation.gated(h, this.up.of(x), h);
    this.down.into(h, y);
    this.ops.release(mark);
    return y;
  }
}
