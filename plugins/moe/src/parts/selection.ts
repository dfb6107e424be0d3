/**
 * Chooses experts by their scores, and weighs them.
 *    c   = s + b                       selectionBias
 *    c_e = 0 or -∞                     for the experts of the weaker groups
 *    S   = the k largest of c, largest first; ties: the lower expert
 *    g_e = s_e                         e in S: the score alone, without b
 *    g_e = g_e / (Σ_S g + eps)         or / max(Σ_S g, floor)
 *    g_e = scale g_e
 * scores [rows, experts] -> ids i32 [rows, k], weights [rows, k].
 * Sources: arXiv:2408.15664 (bias for the choice), 2405.04434, section 2.2 (groups), 2412.19437, section 2.1.2.
 */
import {
  schema,
  type GroupRule,
  type JSONSchema,
  type NormaliseRule,
  type Ops,
  type PartWeights,
  type Tensor,
  type Vector,
  type WeightSlot,
} from '@kvad/core/plugin';

export interface SelectionOptions {
  readonly selectionBias: boolean;
  readonly groups: GroupRule | null;
  readonly normalise: NormaliseRule;
  /** Multiplies the weights. */
  readonly scale: number;
}

export const SELECTION_PROPERTIES: Readonly<Record<string, JSONSchema>> = {
  selectionBias: schema.flag,
  groups: schema.oneOf(
    { type: 'null' },
    schema.object({
      count: schema.size,
      keep: schema.size,
      by: { enum: ['max', 'sum-of-two'] },
      masked: { enum: ['zero', 'lowest'] },
    }),
  ),
  normalise: schema.oneOf(
    schema.object({ by: { const: 'nothing' } }),
    schema.object({ by: { const: 'sum' }, eps: schema.notNegative }),
    schema.object({ by: { const: 'clamped-sum' }, floor: schema.notNegative }),
  ),
  scale: schema.number,
};

export const selectionSlots = ({ selectionBias }: SelectionOptions, experts: number): readonly WeightSlot[] =>
  selectionBias ? [{ name: 'selectionBias', shape: [experts], role: 'exact' }] : [];

export class Selection {
  private readonly bias: Vector | null;

  constructor(
    private readonly options: SelectionOptions,
    weights: PartWeights,
    private readonly ops: Ops,
  ) {
    this.bias = options.selectionBias ? weights.vector('selectionBias') : null;
  }

  choose(scores: Tensor, ids: Tensor, weights: Tensor): void {
    const { ops, options } = this;
    const mark = ops.mark();
    ops.topK(this.choices(scores), ids);
    ops.release(mark);

    ops.gather(scores, ids, weights);
    const { normalise, scale } = options;
    if (normalise.by === 'sum') ops.normaliseRows(weights, weights, { eps: normalise.eps, floor: 0 });
    if (normalise.by === 'clamped-sum') ops.normaliseRows(weights, weights, { eps: 0, floor: normalise.floor });
    if (scale !== 1) ops.scale(weights, weights, scale);
  }

  /** What the experts are chosen by: scores with bias, those of weak groups masked. */
  private choices(scores: Tensor): Tensor {
    const { ops, bias } = this;
    const { groups } = this.options;
    if (bias === null && groups === null) return scores;
    const choices = ops.tensor(scores.rows, scores.cols);
    ops.affine(scores, choices, { scale: null, bias });
    if (groups !== null)
      ops.keepGroups(choices, choices, {
        groups: groups.count,
        keep: groups.keep,
        by: groups.by === 'max' ? 'max' : 'sum2',
        masked: groups.masked === 'zero' ? 0 : -Infinity,
      });
    return choices;
  }
}
