/**
 * Experts that every token goes to, as far as a gate of its own lets it.
 *    y   = W_down (f(W_gate x + b) * (W_up x + b)) + b      f: a part of the axis `activation`
 *    out = out + σ(w·x) y                                   one factor a row
 * x, out [rows, hidden].  Source: `modeling_qwen2_moe.py` of transformers.
 */
import {
  definePart,
  Linear,
  linearSlots,
  schema,
  type Ops,
  type PartContext,
  type SharedExpert,
  type Tensor,
} from '@kvad/core/plugin';
import { SHARED_PROPERTIES, SharedGlu, sharedNested, sharedSlots, type SharedOptions } from './shared-glu.js';

export const gated = definePart<SharedExpert, SharedOptions>({
  kind: 'gated',
  about: 'a gated feed-forward that every token goes to, scaled by a gate of its own',
  options: schema.object(SHARED_PROPERTIES),
  nested: sharedNested,
  slots: (options, dims, parts) => [
    ...sharedSlots(options, dims, parts),
    ...linearSlots('outGate', 1, dims.hiddenSize, false, 'exact'),
  ],
  create: (options, context) => new Gated(options, context),
});

class Gated implements SharedExpert {
  private readonly ops: Ops;
  private readonly glu: SharedGlu;
  private readonly outGate: Linear;

  constructor(options: SharedOptions, context: PartContext) {
    this.ops = context.ops;
    this.glu = new SharedGlu(options, context);
    this.outGate = new Linear('outGate', false, context.weights, context.ops);
  }

  forward(x: Tensor, out: Tensor): void {
    const { ops } = this;
    const mark = ops.mark();
    const y = this.glu.of(x);
    const factors = this.outGate.of(x);
    ops.activate(factors, factors, 'sigmoid');
    ops.scaleGroups(y, factors, y, { size: y.cols });
    ops.add(y, out, { keep: 1, scale: 1 });
    ops.release(mark);
  }
}
