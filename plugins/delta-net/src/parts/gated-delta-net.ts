/**
 * Gated delta net: a linear memory of keys and values in which each token first fades what is there, then corrects what
 * is held under its key.
 *    q, k, v = W_q x, W_k x, W_v x
 *    u_t     = f(Σ_j w_j [q|k|v]_{t - kernel + 1 + j})      depthwise causal convolution over all columns of q, k, v
 *    q, k    = u_q / √(Σ u_q² + ε) / √keyDim, u_k / √(Σ u_k² + ε)      each head alone
 *    β       = betaScale σ(W_b x)                            how much is corrected
 *    g       = -exp(A) softplus(W_a x + b_dt)                logarithm of what stays, below 0
 *    S       = exp(g) S;  S = S + k ⊗ β (u_v - Sᵀ k);  y = Sᵀ q      value head h has key head floor(h keyHeads / valueHeads)
 *    y       = norm(y) * f_out(W_z x)                        each head alone
 *    out     = W_o y
 * x, out [rows, hidden]; q, k [rows, keyHeads keyDim]; v, z, y [rows, valueHeads valueDim]; β, g [rows, valueHeads].
 * States of a sequence, f32: the last kernel - 1 rows of [q|k|v] before the convolution, and S [keyDim, valueDim] of
 * each value head. Neither can be cut back. What decides how long the memory lasts (W_a, W_b, A, b_dt, the convolution
 * and the norm) keeps its precision whatever the quantisation.
 * Sources: arXiv:2412.06464; 2411.12537 (betaScale 2, negative eigenvalues).
 */
import {
  definePart,
  Linear,
  linearSlots,
  normPart,
  schema,
  type Activation,
  type AttentionMixer,
  type Dims,
  type LayerContext,
  type Norm,
  type NormPlan,
  type Ops,
  type PartContext,
  type PartPlan,
  type Parts,
  type RecurrentSegment,
  type StateSpec,
  type Tensor,
  type Vector,
  type WeightSlot,
} from '@kvad/core/plugin';

export interface GatedDeltaNetOptions {
  readonly keyHeads: number;
  /** A multiple of `keyHeads`: as many value heads share each head of queries and keys. */
  readonly valueHeads: number;
  readonly keyDim: number;
  readonly valueDim: number;
  /** Tokens that the convolution sees, the present one included. */
  readonly kernel: number;
  /** f, after the convolution. */
  readonly activation: PartPlan;
  /** ε of the length of queries and keys. */
  readonly lengthEps: number;
  /** 1: what is held under a key is at most replaced; 2: it may be turned round. */
  readonly betaScale: 1 | 2;
  /** Of each head's values alone. */
  readonly outNorm: NormPlan;
  /** f_out, after the norm. */
  readonly outGate: PartPlan;
}

export const gatedDeltaNet = definePart<AttentionMixer, GatedDeltaNetOptions>({
  kind: 'gated-delta-net',
  about: 'a linear memory with the gated delta rule, behind a short convolution',
  options: schema.object({
    keyHeads: schema.size,
    valueHeads: schema.size,
    keyDim: schema.size,
    valueDim: schema.size,
    kernel: { type: 'integer', minimum: 2 },
    activation: schema.part,
    lengthEps: schema.notNegative,
    betaScale: { enum: [1, 2] },
    outNorm: schema.norm,
    outGate: schema.part,
  }),
  nested: ({ activation, outGate, outNorm, valueDim }) => [
    { axis: 'activation', part: activation },
    { axis: 'activation', part: outGate },
    { axis: 'norm', part: normPart(outNorm, valueDim) },
  ],
  slots,
  create: (options, context) => new GatedDeltaNet(options, context),
});

/** Columns of queries or keys, of values, and of all three, which the convolution runs over. */
const widthsOf = ({ keyHeads, keyDim, valueHeads, valueDim }: GatedDeltaNetOptions) => {
  const [keys, values] = [keyHeads * keyDim, valueHeads * valueDim];
  return { keys, values, channels: 2 * keys + values };
};

function slots(options: GatedDeltaNetOptions, dims: Dims, parts: Parts): readonly WeightSlot[] {
  const { keyHeads, valueHeads, valueDim, kernel, activation, outNorm, outGate } = options;
  if (valueHeads % keyHeads !== 0) throw new Error(`${keyHeads} key heads do not divide ${valueHeads} value heads`);
  const { keys, values, channels } = widthsOf(options);
  return [
    ...linearSlots('q', keys, dims.hiddenSize, false),
    ...linearSlots('k', keys, dims.hiddenSize, false),
    ...linearSlots('v', values, dims.hiddenSize, false),
    ...linearSlots('z', values, dims.hiddenSize, false),
    ...linearSlots('b', valueHeads, dims.hiddenSize, false, 'exact'),
    ...linearSlots('a', valueHeads, dims.hiddenSize, false, 'exact'),
    ...linearSlots('o', dims.hiddenSize, values, false),
    { name: 'conv.weight', shape: [channels, kernel], role: 'exact' },
    { name: 'decay.log', shape: [valueHeads], role: 'exact' },
    { name: 'decay.bias', shape: [valueHeads], role: 'exact' },
    ...parts.slots('activation', activation, dims, 'activation.'),
    ...parts.normSlots(outNorm, valueDim, 'outNorm.'),
    ...parts.slots('activation', outGate, dims, 'outGate.'),
  ];
}

class GatedDeltaNet implements AttentionMixer {
  readonly state: readonly StateSpec[];
  private readonly ops: Ops;
  private readonly q: Linear;
  private readonly k: Linear;
  private readonly v: Linear;
  private readonly z: Linear;
  private readonly b: Linear;
  private readonly a: Linear;
  private readonly o: Linear;
  private readonly conv: Vector;
  /** `-exp(A)` */
  private readonly decayRate: Vector;
  private readonly decayBias: Vector;
  private readonly activation: Activation;
  private readonly outNorm: Norm;
  private readonly outGate: Activation;

  constructor(
    private readonly options: GatedDeltaNetOptions,
    { dims, weights, ops, parts }: PartContext,
  ) {
    const { valueHeads, keyDim, valueDim, kernel } = options;
    const linear = (name: string): Linear => new Linear(name, false, weights, ops);
    const activation = (name: 'activation' | 'outGate'): Activation =>
      parts.create('activation', options[name], dims, weights.under(`${name}.`), ops);

    this.ops = ops;
    this.q = linear('q');
    this.k = linear('k');
    this.v = linear('v');
    this.z = linear('z');
    this.b = linear('b');
    this.a = linear('a');
    this.o = linear('o');
    this.conv = weights.vector('conv.weight');
    this.decayRate = ops.constant(weights.values('decay.log').map((log) => -Math.exp(log)));
    this.decayBias = weights.vector('decay.bias');
    this.activation = activation('activation');
    this.outNorm = parts.createNorm(options.outNorm, valueDim, weights.under('outNorm.'), ops);
    this.outGate = activation('outGate');
    this.state = [
      fixed('conv', 'conv', [widthsOf(options).channels, kernel - 1]),
      fixed('delta', 'recurrent', [valueHeads, keyDim, valueDim]),
    ];
  }

  forward(x: Tensor, out: Tensor, ctx: LayerContext): void {
    const { ops, options } = this;
    const mark = ops.mark();
    const { q, k, v } = this.convolved(x, ctx);
    this.normalise(q, k);
    const beta = this.beta(x);
    const decay = this.decay(x);

    const y = ops.tensor(x.rows, v.cols);
    const { keyHeads, valueHeads, keyDim, valueDim } = options;
    const sizes = { keyHeads, valueHeads, keyDim, valueDim };
    ops.deltaRule({ q, k, v, decay, beta }, y, { segments: segmentsOf('delta', ctx), ...sizes });

    this.outNorm.forward(y, y);
    this.outGate.gated(this.z.of(x), y, y);
    this.o.into(y, out);
    ops.release(mark);
  }

  /** Queries, keys and values side by side, mixed with those of the tokens just before. */
  private convolved(x: Tensor, ctx: LayerContext): { q: Tensor; k: Tensor; v: Tensor } {
    const { ops, options } = this;
    const { keys, values, channels } = widthsOf(options);
    const cut = (all: Tensor) => ({
      q: ops.columns(all, 0, keys),
      k: ops.columns(all, keys, keys),
      v: ops.columns(all, 2 * keys, values),
    });
    const projected = ops.tensor(x.rows, channels);
    const { q, k, v } = cut(projected);
    this.q.into(x, q);
    this.k.into(x, k);
    this.v.into(x, v);

    const mixed = ops.tensor(x.rows, channels);
    const segments = segmentsOf('conv', ctx);
    ops.causalConv(projected, mixed, { segments, weight: this.conv, bias: null, kernel: options.kernel });
    this.activation.forward(mixed, mixed);
    return cut(mixed);
  }

  private normalise(q: Tensor, k: Tensor): void {
    const { keyDim: size, lengthEps: eps } = this.options;
    this.ops.l2Norm(q, q, { size, eps });
    this.ops.l2Norm(k, k, { size, eps });
    this.ops.scale(q, q, size ** -0.5);
  }

  private beta(x: Tensor): Tensor {
    const beta = this.b.of(x);
    this.ops.activate(beta, beta, 'sigmoid');
    if (this.options.betaScale !== 1) this.ops.scale(beta, beta, this.options.betaScale);
    return beta;
  }

  private decay(x: Tensor): Tensor {
    const decay = this.a.of(x);
    this.ops.affine(decay, decay, { scale: null, bias: this.decayBias });
    this.ops.activate(decay, decay, 'softplus');
    this.ops.affine(decay, decay, { scale: this.decayRate, bias: null });
    return decay;
  }
}

/** The rows of each sequence and its state of that name. */
const segmentsOf = (name: string, ctx: LayerContext): RecurrentSegment[] => {
  const states = ctx.state(name);
  return ctx.batch.segments.map(({ start, length }, i) => ({ start, length, state: states[i]! }));
};

const fixed = (name: string, kind: StateSpec['kind'], shape: readonly number[]): StateSpec => ({
  name,
  kind,
  shape,
  dtype: 'f32',
  init: 0,
  rollback: 'none',
});
