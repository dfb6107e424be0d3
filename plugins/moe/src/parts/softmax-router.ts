/**
 * Softmax router, in either order of its two steps.
 *    l   = W x + b                     logits over the experts, float32
 *  softmax-then-top-k:
 *    s   = softmax(l)                  chosen and weighed as `selection.ts` says
 *  top-k-then-softmax:
 *    S   = the k largest of l, largest first; ties: the lower expert
 *    g   = softmax of l over S
 * x [rows, hidden] -> ids i32 [rows, k], weights [rows, k], k = perToken.
 * Sources: arXiv:1701.06538 (top-k, then softmax), 2101.03961 and 2401.04088 (softmax over all).
 */
import {
  definePart,
  Linear,
  linearSlots,
  schema,
  type Ops,
  type PartContext,
  type Router,
  type Tensor,
} from '@kvad/core/plugin';
import { Selection, SELECTION_PROPERTIES, selectionSlots, type SelectionOptions } from './selection.js';

export interface SoftmaxRouterOptions {
  readonly experts: number;
  readonly perToken: number;
  /** Of the logits. */
  readonly bias: boolean;
  readonly rule: SoftmaxRule;
}

export type SoftmaxRule =
  ({ readonly order: 'softmax-then-top-k' } & SelectionOptions) | { readonly order: 'top-k-then-softmax' };

export const softmaxRouter = definePart<Router, SoftmaxRouterOptions>({
  kind: 'softmax',
  about: 'scores by a softmax over all experts, or over the chosen ones',
  options: schema.object({
    experts: schema.size,
    perToken: schema.size,
    bias: schema.flag,
    rule: schema.oneOf(
      schema.object({ order: { const: 'softmax-then-top-k' }, ...SELECTION_PROPERTIES }),
      schema.object({ order: { const: 'top-k-then-softmax' } }),
    ),
  }),
  slots: ({ experts, bias, rule }, { hiddenSize }) => [
    ...linearSlots('logits', experts, hiddenSize, bias, 'exact'),
    ...(rule.order === 'softmax-then-top-k' ? selectionSlots(rule, experts) : []),
  ],
  create: (options, context) => new SoftmaxRouter(options, context),
});

class SoftmaxRouter implements Router {
  readonly k: number;
  private readonly ops: Ops;
  private readonly logits: Linear;
  private readonly selection: Selection | null;

  constructor({ perToken, bias, rule }: SoftmaxRouterOptions, { weights, ops }: PartContext) {
    this.k = perToken;
    this.ops = ops;
    this.logits = new Linear('logits', bias, weights, ops);
    this.selection = rule.order === 'softmax-then-top-k' ? new Selection(rule, weights, ops) : null;
  }

  forward(x: Tensor, ids: Tensor, weights: Tensor): void {
    const { ops } = this;
    const mark = ops.mark();
    const logits = this.logits.of(x);
    if (this.selection !== null) {
      ops.softmax(logits, logits);
      this.selection.choose(logits, ids, weights);
    } else {
      ops.topK(logits, ids);
      ops.gather(logits, ids, weights);
      ops.softmax(weights, weights);
    }
    ops.release(mark);
  }
}
