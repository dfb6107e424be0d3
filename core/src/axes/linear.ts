import type { Ops } from '../kernels/ops.js';
import type { Matrix, Tensor, Vector } from '../kernels/tensor.js';
import type { PartWeights, WeightSlot } from './parts.js';

/**
 * The slots `name.weight` `[rows, cols]` and, where there is one, `name.bias` `[rows]`. An `exact` weight is kept out
 * of quantisation.
 */
export const linearSlots = (
  name: string,
  rows: number,
  cols: number,
  bias: boolean,
  role: 'matrix' | 'exact' = 'matrix',
): readonly WeightSlot[] => [
  { name: `${name}.weight`, shape: [rows, cols], role },
  ...(bias ? [{ name: `${name}.bias`, shape: [rows], role: 'exact' as const }] : []),
];

/** `y = W x + b`. */
export class Linear {
  private readonly weight: Matrix;
  private readonly bias: Vector | null;

  constructor(
    name: string,
    bias: boolean,
    weights: PartWeights,
    private readonly ops: Ops,
  ) {
    this.weight = weights.matrix(`${name}.weight`);
    this.bias = bias ? weights.vector(`${name}.bias`) : null;
  }

  /** Into a new tensor `[rows of x, rows of W]`. */
  of(x: Tensor): Tensor {
    const y = this.ops.tensor(x.rows, this.weight.rows);
    this.into(x, y);
    return y;
  }

  into(x: Tensor, out: Tensor): void {
    this.ops.linear(x, this.weight, out, { bias: this.bias });
  }
}
