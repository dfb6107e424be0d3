import type { Ops } from '../../kernels/ops.js';
import type { Tensor } from '../../kernels/tensor.js';
import { definePart } from '../../plan/plugin.js';
import type { Block, BlockOp, Part, PartContext } from '../parts.js';
import { NO_OPTIONS, type NoOptions } from './no-options.js';

/** x = sum(kept + scale · after(op(before(source)))), see below for `kept` and `source`. */
const runOp = (ops: Ops, x: Tensor, input: Tensor, op: BlockOp): void => {
  const { from, keep, scale } = op.residual;
  const source = from === 'input' ? input : x;
  let normed = source;
  if (op.before !== null) {
    normed = ops.tensor(x.rows, x.cols);
    op.before.forward(source, normed);
  }
  const result = ops.tensor(x.rows, x.cols);
  op.body.forward(normed, result, op.context(source));
  if (op.after !== null) op.after.forward(result, result);
  if (from === 'normed' && normed !== x) ops.copy(normed, x);
  ops.add(result, x, { keep: from === 'none' ? 0 : keep, scale });
  if (op.sum !== null) op.sum.forward(x, x);
};

/**
 * The default wiring of a layer: its ops one after the other on one residual stream x [rows, hidden]. For each
 *    x = sum(keep · x + scale · after(op(before(x))))       from `previous`
 *    x = sum(keep · x + scale · after(op(before(x₀))))      from `input`: x₀ is what the block was given (parallel ops)
 *    x = sum(keep · n + scale · after(op(n))), n = before(x)   from `normed`
 *    x = sum(scale · after(op(before(x))))                  from `none`
 *  where a norm that is not there is the identity. The op's context shows it x (or x₀) before the norm as the residual.
 */
const residual: Part<Block, NoOptions> = definePart({
  kind: 'residual',
  about: 'ops in order on one residual stream, each x += op(norm(x)) or a variation of it',
  options: NO_OPTIONS,
  slots: () => [],
  create: (_options: NoOptions, { ops }: PartContext): Block => ({
    forward(x, layerOps) {
      const start = ops.mark();
      let input = x;
      if (layerOps.some((op, index) => index > 0 && op.residual.from === 'input')) {
        input = ops.tensor(x.rows, x.cols);
        ops.copy(x, input);
      }
      for (const op of layerOps) {
        const mark = ops.mark();
        runOp(ops, x, input, op);
        ops.release(mark);
      }
      ops.release(start);
    },
  }),
});

export const BLOCKS = [residual] as const;
