/**
 * Multi-head latent attention, in its absorbed form: keys and values are never made, the cached latent stands for both.
 *    c        = norm(W_q↓ x)                    or c = x, where queries have no latent
 *    q_n, q_r = W_qn c, rope_p(W_qr c)          per head: what does not turn, what turns
 *    l, r     = norm(W_l x), rope_p(W_r x)      one latent and one turning key for all heads: the cache
 *    a_hj     = scale (U_hᵀ q_nh · l_j + q_rh · r_j),  P = softmax over j <= p
 *    y_h      = V_h Σ_j P_hj l_j
 *    out      = W_o y
 * U_h [nope, latent] and V_h [value, latent] are the halves of the published `kv_b_proj`: its keys U_h l and values
 * V_h l give the same scores and sums, since q·(U l) = (Uᵀ q)·l and Σ P V l = V Σ P l.
 * x, out [rows, hidden]; a cached row is [l | r].
 * Source: arXiv:2405.04434, section 2.1; `modeling_deepseek_v3.py` of transformers.
 */
import {
  definePart,
  type AttentionMixer,
  type Dims,
  type KvSegment,
  type LayerContext,
  type Matrix,
  type MatrixStack,
  type Norm,
  type Ops,
  type PartContext,
  type Parts,
  type StateSpec,
  type Tensor,
  type Vector,
  type WeightSlot,
} from '@kvad/core/plugin';
import { MLA_SCHEMA, type MlaOptions } from './mla-options.js';

export const mla = definePart<AttentionMixer, MlaOptions>({
  kind: 'mla',
  about: 'attention over one cached latent that keys and values are made from',
  options: MLA_SCHEMA,
  slots,
  create: (options, context) => new LatentAttention(options, context),
});

function slots(o: MlaOptions, { hiddenSize }: Dims, parts: Parts): readonly WeightSlot[] {
  const { heads, nopeDim, ropeDim, valueDim, latent, query, bias } = o;
  const queryIn = query.from === 'latent' ? query.latent : hiddenSize;
  return [
    ...(query.from === 'latent'
      ? [...linear('qDown', query.latent, hiddenSize, bias), ...parts.normSlots(query.norm, query.latent, 'qNorm.')]
      : []),
    ...linear('qNope', heads * nopeDim, queryIn, false),
    ...linear('qRope', heads * ropeDim, queryIn, false),
    ...linear('latent', latent, hiddenSize, bias),
    ...linear('kRope', ropeDim, hiddenSize, bias),
    ...parts.normSlots(o.latentNorm, latent, 'latentNorm.'),
    { name: 'keyUp.weight', shape: [heads, latent, nopeDim], role: 'stack' },
    { name: 'valueUp.weight', shape: [heads, valueDim, latent], role: 'stack' },
    ...linear('o', hiddenSize, heads * valueDim, bias),
  ];
}

const linear = (name: string, rows: number, cols: number, bias: boolean): readonly WeightSlot[] => [
  { name: `${name}.weight`, shape: [rows, cols], role: 'matrix' },
  ...(bias ? [{ name: `${name}.bias`, shape: [rows], role: 'exact' as const }] : []),
];

interface Projection {
  readonly weight: Matrix;
  readonly bias: Vector | null;
}

class LatentAttention implements AttentionMixer {
  readonly state: readonly StateSpec[];
  private readonly ops: Ops;
  private readonly query: { readonly down: Projection; readonly norm: Norm } | null;
  private readonly qNope: Projection;
  private readonly qRope: Projection;
  private readonly latent: Projection;
  private readonly kRope: Projection;
  private readonly latentNorm: Norm;
  private readonly keyUp: MatrixStack;
  private readonly valueUp: MatrixStack;
  private readonly o: Projection;

  constructor(
    private readonly options: MlaOptions,
    { weights, ops, parts }: PartContext,
  ) {
    const { query, bias, latent, ropeDim } = options;
    const projection = (name: string, biased: boolean): Projection => ({
      weight: weights.matrix(`${name}.weight`),
      bias: biased ? weights.vector(`${name}.bias`) : null,
    });
    this.ops = ops;
    this.query =
      query.from === 'latent'
        ? {
            down: projection('qDown', bias),
            norm: parts.createNorm(query.norm, query.latent, weights.under('qNorm.'), ops),
          }
        : null;
    this.qNope = projection('qNope', false);
    this.qRope = projection('qRope', false);
    this.latent = projection('latent', bias);
    this.kRope = projection('kRope', bias);
    this.latentNorm = parts.createNorm(options.latentNorm, latent, weights.under('latentNorm.'), ops);
    this.keyUp = weights.stack('keyUp.weight');
    this.valueUp = weights.stack('valueUp.weight');
    this.o = projection('o', bias);
    this.state = [
      { name: 'latent', kind: 'latent', shape: [latent + ropeDim], dtype: 'cache', init: 0, rollback: 'any' },
    ];
  }

  forward(x: Tensor, out: Tensor, ctx: LayerContext): void {
    const { ops } = this;
    const { heads, latent, valueDim } = this.options;
    const mark = ops.mark();
    const segments = this.cache(x, ctx);
    const q = this.queries(x, ctx);

    const read = ops.tensor(x.rows, heads * latent);
    this.attend(q, read, segments);
    const y = ops.tensor(x.rows, heads * valueDim);
    ops.headLinear(read, this.valueUp, y);
    this.project(this.o, y, out);
    ops.release(mark);
  }

  /** `[rows, heads * (latent + rope)]`: what meets a cached row, head by head. */
  private queries(x: Tensor, ctx: LayerContext): Tensor {
    const { ops } = this;
    const { heads, nopeDim, ropeDim, latent } = this.options;
    const c = this.queryInput(x);
    const still = ops.tensor(x.rows, heads * nopeDim);
    const turning = ops.tensor(x.rows, heads * ropeDim);
    this.project(this.qNope, c, still);
    this.project(this.qRope, c, turning);
    this.turn(turning, heads, ctx);
    const absorbed = ops.tensor(x.rows, heads * latent);
    ops.headLinear(still, this.keyUp, absorbed);

    const rows = x.rows * heads;
    const q = ops.tensor(rows, latent + ropeDim);
    ops.copy(ops.reshape(absorbed, rows, latent), ops.columns(q, 0, latent));
    ops.copy(ops.reshape(turning, rows, ropeDim), ops.columns(q, latent, ropeDim));
    return ops.reshape(q, x.rows, heads * (latent + ropeDim));
  }

  private queryInput(x: Tensor): Tensor {
    if (this.query === null) return x;
    const c = this.ops.tensor(x.rows, this.query.down.weight.rows);
    this.project(this.query.down, x, c);
    this.query.norm.forward(c, c);
    return c;
  }

  /** Puts this call's latents and turning keys into each sequence's state. */
  private cache(x: Tensor, ctx: LayerContext): KvSegment[] {
    const { ops } = this;
    const { latent, ropeDim } = this.options;
    const rows = ops.tensor(x.rows, latent + ropeDim);
    const [l, r] = [ops.columns(rows, 0, latent), ops.columns(rows, latent, ropeDim)];
    this.project(this.latent, x, l);
    this.project(this.kRope, x, r);
    this.latentNorm.forward(l, l);
    this.turn(r, 1, ctx);
    const states = ctx.state('latent');
    return ctx.batch.segments.map(({ start, length, position }, index) => {
      const state = states[index]!;
      ops.append(state, rows, start, length, position);
      return { start, length, position, keys: state, values: state };
    });
  }

  private attend(q: Tensor, out: Tensor, segments: readonly KvSegment[]): void {
    const { heads, latent, ropeDim, scale } = this.options;
    this.ops.attend(q, out, {
      segments,
      heads,
      kvHeads: 1,
      keyDim: latent + ropeDim,
      valueDim: latent,
      scale,
      window: null,
      chunk: null,
      softcap: null,
      sinks: null,
      slopes: null,
    });
  }

  private turn(x: Tensor, heads: number, ctx: LayerContext): void {
    const { rope, ropeDim } = this.options;
    this.ops.rope(x, ctx.rope(rope.table), { heads, headDim: ropeDim, from: 0, layout: rope.layout, inverse: false });
  }

  private project({ weight, bias }: Projection, x: Tensor, out: Tensor): void {
    this.ops.linear(x, weight, out, { bias });
  }
}
