/**
 * Softmax attention with grouped key and value heads.
 *    q, k, v = clip(W_q x + b_q), clip(W_k x + b_k), clip(W_v x + b_v)
 *    q, k    = norm(q), norm(k)            qkNorm before rope
 *    q, k, v = clip(q), clip(k), clip(v)   clipNormed
 *    q, k    = rope_p(q), rope_p(k)        p: the position
 *    q, k    = norm(q), norm(k)            qkNorm after rope
 *    q       = s(p) q                      queryScale
 *    a_hj    = scale q_h·k_j + slope_h (j - p), cap tanh(a_hj / cap)       keys j that the mask shows
 *    P_hj    = exp(a_hj) / (Σ_i exp(a_hi) + exp(sink_h))
 *    y_h     = valueScale Σ_j P_hj v_j     query head h reads key head floor(h / (heads / kvHeads))
 *    y       = norm(y * f(W_g x + b_g))    outGate, outNorm
 *    out     = W_o y + b_o
 * x, out [rows, hidden]; k and v are cached as they enter the scores: after norm and rope.
 * Sources: arXiv:1706.03762, 2305.13245 (grouped heads), 2104.09864 (rope), 2108.12409 (ALiBi), 2302.05442 (qk norm),
 * 2408.00118 (softcap), 2309.17453 (sinks), 2505.06708 (output gate).
 */
import {
  definePart,
  Linear,
  linearSlots,
  normPart,
  type AttentionMixer,
  type Dims,
  type KvSegment,
  type LayerContext,
  type Norm,
  type Ops,
  type PartContext,
  type Parts,
  type StateSpec,
  type Tensor,
  type Vector,
  type WeightSlot,
} from '@kvad/core/plugin';
import { alibiSlopes } from './alibi-slopes.js';
import { ATTENTION_SCHEMA, type AttentionOptions } from './attention-options.js';
import { createQkNorm, qkNormSlots, type HeadNorm } from './qk-norm.js';
import { queryFactors } from './query-scale.js';

export const attention = definePart<AttentionMixer, AttentionOptions>({
  kind: 'attention',
  about: 'softmax attention, any number of key and value heads',
  options: ATTENTION_SCHEMA,
  nested: ({ outNorm, heads, valueDim }) =>
    outNorm === undefined ? [] : [{ axis: 'norm', part: normPart(outNorm, heads * valueDim) }],
  slots,
  create: (options, context) => new Attention(options, context),
});

function slots(o: AttentionOptions, { hiddenSize }: Dims, parts: Parts): readonly WeightSlot[] {
  const { heads, kvHeads, headDim, valueDim } = o;
  if (heads % kvHeads !== 0) throw new Error(`kvHeads is ${kvHeads}, which does not divide heads, ${heads}`);
  return [
    ...linearSlots('q', heads * headDim, hiddenSize, o.bias.q),
    ...linearSlots('k', kvHeads * headDim, hiddenSize, o.bias.k),
    ...linearSlots('v', kvHeads * valueDim, hiddenSize, o.bias.v),
    ...linearSlots('o', hiddenSize, heads * valueDim, o.bias.o),
    ...qkNormSlots(o),
    ...(o.sinks === undefined ? [] : [{ name: 'sinks', shape: [heads], role: 'exact' as const }]),
    ...(o.outGate === undefined ? [] : linearSlots('gate', gateColumns(o), hiddenSize, o.bias.gate ?? false)),
    ...(o.outNorm === undefined ? [] : parts.normSlots(o.outNorm, heads * valueDim, 'outNorm.')),
  ];
}

const gateColumns = ({ outGate, heads, valueDim }: AttentionOptions): number =>
  outGate === 'softplus-per-head' ? heads : heads * valueDim;

class Attention implements AttentionMixer {
  readonly state: readonly StateSpec[];
  private readonly ops: Ops;
  private readonly q: Linear;
  private readonly k: Linear;
  private readonly v: Linear;
  private readonly o: Linear;
  private readonly gate: Linear | null;
  private readonly norms: { readonly q: HeadNorm; readonly k: HeadNorm } | null;
  private readonly outNorm: Norm | null;
  private readonly slopes: Vector | null;
  private readonly sinks: Vector | null;

  constructor(
    private readonly options: AttentionOptions,
    { weights, ops, parts }: PartContext,
  ) {
    const { heads, kvHeads, headDim, valueDim, bias, positions, qkNorm, outNorm } = options;
    const norm = (name: string): HeadNorm | null =>
      qkNorm === undefined ? null : createQkNorm(name, qkNorm, headDim, weights, ops);
    const [qNorm, kNorm] = [norm('qNorm'), norm('kNorm')];

    this.ops = ops;
    this.q = new Linear('q', bias.q, weights, ops);
    this.k = new Linear('k', bias.k, weights, ops);
    this.v = new Linear('v', bias.v, weights, ops);
    this.o = new Linear('o', bias.o, weights, ops);
    this.gate = options.outGate === undefined ? null : new Linear('gate', bias.gate ?? false, weights, ops);
    this.norms = qNorm !== null && kNorm !== null ? { q: qNorm, k: kNorm } : null;
    this.outNorm =
      outNorm === undefined ? null : parts.createNorm(outNorm, heads * valueDim, weights.under('outNorm.'), ops);
    this.slopes = positions.kind === 'alibi' ? ops.constant(alibiSlopes(heads, positions.powers)) : null;
    this.sinks = options.sinks === undefined ? null : weights.vector('sinks');
    this.state = [cached('k', kvHeads * headDim), cached('v', kvHeads * valueDim)];
  }

  forward(x: Tensor, out: Tensor, ctx: LayerContext): void {
    const { ops, options } = this;
    const mark = ops.mark();
    const q = this.project(x, this.q);
    const k = this.project(x, this.k);
    const v = this.project(x, this.v);

    this.normalise(q, k, 'before-rope');
    for (const y of [q, k, v]) this.clip(y, options.clipNormed);
    this.turn(q, k, ctx);
    this.normalise(q, k, 'after-rope');
    this.scaleQueries(q, ctx);

    const y = ops.tensor(x.rows, options.heads * options.valueDim);
    this.attend(q, y, this.cache(k, v, ctx));
    if (options.valueScale !== undefined) ops.scale(y, y, options.valueScale);
    this.gateValues(x, y);
    this.outNorm?.forward(y, y);
    this.o.into(y, out);
    ops.release(mark);
  }

  private project(x: Tensor, linear: Linear): Tensor {
    const y = linear.of(x);
    this.clip(y, this.options.clip);
    return y;
  }

  private clip(y: Tensor, limit: number | undefined): void {
    if (limit !== undefined) this.ops.clamp(y, y, { low: -limit, high: limit });
  }

  private normalise(q: Tensor, k: Tensor, when: 'before-rope' | 'after-rope'): void {
    if (this.norms === null || this.options.qkNorm?.when !== when) return;
    this.norms.q(q);
    this.norms.k(k);
  }

  private turn(q: Tensor, k: Tensor, ctx: LayerContext): void {
    const { positions, heads, kvHeads, headDim } = this.options;
    if (positions.kind !== 'rope') return;
    const angles = ctx.rope(positions.table);
    const turn = { headDim, from: 0, layout: positions.layout, inverse: positions.direction === 'backward' };
    this.ops.rope(q, angles, { heads, ...turn });
    this.ops.rope(k, angles, { heads: kvHeads, ...turn });
  }

  private scaleQueries(q: Tensor, ctx: LayerContext): void {
    const { queryScale } = this.options;
    if (queryScale === undefined) return;
    const factors = this.ops.upload(queryFactors(queryScale, ctx.batch), q.rows, 1);
    this.ops.scaleGroups(q, factors, q, { size: q.cols });
  }

  /** Puts this call's keys and values into each sequence's state. */
  private cache(k: Tensor, v: Tensor, ctx: LayerContext): KvSegment[] {
    const [keys, values] = [ctx.state('k'), ctx.state('v')];
    return ctx.batch.segments.map(({ start, length, position }, i) => {
      const segment = { start, length, position, keys: keys[i]!, values: values[i]! };
      this.ops.append(segment.keys, k, start, length, position);
      this.ops.append(segment.values, v, start, length, position);
      return segment;
    });
  }

  private attend(q: Tensor, y: Tensor, segments: readonly KvSegment[]): void {
    const { heads, kvHeads, headDim, valueDim, scale, mask, softcap } = this.options;
    this.ops.attend(q, y, {
      segments,
      heads,
      kvHeads,
      keyDim: headDim,
      valueDim,
      scale,
      window: mask.kind === 'window' ? mask.size : null,
      chunk: mask.kind === 'chunk' ? mask.size : null,
      softcap: softcap ?? null,
      sinks: this.sinks,
      slopes: this.slopes,
    });
  }

  /** `y *= f(W_g x)`, an element or a head at a time. */
  private gateValues(x: Tensor, y: Tensor): void {
    if (this.gate === null) return;
    const { ops, options } = this;
    const gate = this.gate.of(x);
    if (options.outGate === 'softplus-per-head') {
      ops.activate(gate, gate, 'softplus');
      ops.scaleGroups(y, gate, y, { size: options.valueDim });
    } else ops.gated(gate, y, y, options.outGate === 'sigmoid' ? 'sigmoid' : 'softplus');
  }
}

const cached = (name: string, width: number): StateSpec => ({
  name,
  kind: 'kv',
  shape: [width],
  dtype: 'cache',
  init: 0,
  rollback: 'any',
});
