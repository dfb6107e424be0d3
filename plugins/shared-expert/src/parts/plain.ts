/**
 * Experts that every token goes to.
 *    y   = W_down (f(W_gate x + b) * (W_up x + b)) + b      f: a part of the axis `activation`
 *    out = out + y
 * x, out [rows, hidden].  Source: arXiv:2401.06066, section 3.2.
 */
import { definePart, schema, type Ops, type PartContext, type SharedExpert, type Tensor } from '@kvad/core/plugin';
import { SHARED_PROPERTIES, SharedGlu, sharedNested, sharedSlots, type SharedOptions } from './shared-glu.js';

export const plain = definePart<SharedExpert, SharedOptions>({
  kind: 'plain',
  about: 'a gated feed-forward that every token goes to',
  options: schema.object(SHARED_PROPERTIES),
  nested: sharedNested,
  slots: sharedSlots,
  create: (options, context) => new Plain(options, context),
});

class Plain implements SharedExpert {
  private readonly ops: Ops;
  private readonly glu: SharedGlu;

  constructor(options: SharedOptions, context: PartContext) {
    this.ops = context.ops;
    this.glu = new SharedGlu(options, context);
  }

  forward(x: Tensor, out: Tensor): void {
    const mark = this.ops.mark();
    this.ops.add(this.glu.of(x), out, { keep: 1, scale: 1 });
    this.ops.release(mark);
  }
}
