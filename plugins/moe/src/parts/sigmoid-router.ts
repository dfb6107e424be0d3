/**
 * Sigmoid router: each expert is scored on its own.
 *    s   = σ(W x + b)                  scores of the experts, float32
 * chosen and weighed as `selection.ts` says.
 * x [rows, hidden] -> ids i32 [rows, k], weights [rows, k], k = perToken.
 * Source: arXiv:2412.19437, section 2.1.2.
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

export interface SigmoidRouterOptions {
  readonly experts: number;
  readonly perToken: number;
  /** Of the logits. */
  readonly bias: boolean;
  readonly rule: SelectionOptions;
}

export const sigmoidRouter = definePart<Router, SigmoidRouterOptions>({
  kind: 'sigmoid',
  about: 'scores each expert by a sigmoid',
  options: schema.object({
    experts: schema.size,
    perToken: schema.size,
    bias: schema.flag,
    rule: schema.object(SELECTION_PROPERTIES),
  }),
  slots: ({ experts, bias, rule }, { hiddenSize }) => [
    ...linearSlots('logits', experts, hiddenSize, bias, 'exact'),
    ...selectionSlots(rule, experts),
  ],
  create: (options, context) => new SigmoidRouter(options, context),
});

class SigmoidRouter implements Router {
  readonly k: number;
  private readonly ops: Ops;
  private readonly logits: Linear;
  private readonly selection: Selection;

  constructor({ perToken, bias, rule }: SigmoidRouterOptions, { weights, ops }: PartContext) {
    this.k = perToken;
    this.ops = ops;
    this.logits = new Linear('logits', bias, weights, ops);
    this.selection = new Selection(rule, weights, ops);
  }

  forward(x: Tensor, ids: Tensor, weights: Tensor): void {
    const { ops } = this;
    const mark = ops.mark();
    const scores = this.logits.of(x);
    ops.activate(scores, scores, 'sigmoid');
    this.selection.choose(scores, ids, weights);
    ops.release(mark);
  }
}
