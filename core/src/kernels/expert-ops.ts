import type { MatrixStack, Precision, Tensor, Vector, WeightData } from './tensor.js';

export interface GroupChoice {
  /** Columns are cut in so many groups of equal size. */
  readonly groups: number;
  /** Groups that stay; ties: the lower one. */
  readonly keep: number;
  /** Strength of a group: its largest value, or the sum of its two largest. */
  readonly by: 'max' | 'sum2';
  /** What stands in the columns of the other groups. */
  readonly masked: number;
}

export interface ExpertLinear {
  /** i32 `[rows, k]`: which matrix each of a row's k products takes; -1: none, its output is 0. */
  readonly ids: Tensor;
  /** `[count * out]`, a bias for each matrix. */
  readonly bias: Vector | null;
}

/**
 * What routers, experts and block-diagonal projections need: part of `Ops`. A router is a few of these in a row, so
 * that each published rule can be written as it stands in its paper.
 */
export interface ExpertOps {
  /** Shape `[count, out, in]`. `precision` null: as stored. */
  stack(data: WeightData, precision: Precision | null): MatrixStack;
  /** Softmax of each row. In place. */
  softmax(x: Tensor, out: Tensor): void;
  /** `out = x` with the columns of weak groups masked. In place. */
  keepGroups(x: Tensor, out: Tensor, choice: GroupChoice): void;
  /** ids[r] = the columns of the k = ids.cols largest values of row r, largest first; ties: the lower column. NaN is smallest. */
  topK(x: Tensor, ids: Tensor): void;
  /** `out[r, j] = x[r, ids[r, j]]`; id -1: 0. x `[rows, cols]`, ids and out `[rows, k]`. */
  gather(x: Tensor, ids: Tensor, out: Tensor): void;
  /** `out[r] = x[r] / max(Σ x[r] + eps, floor)`. In place. */
  normaliseRows(x: Tensor, out: Tensor, options: { eps: number; floor: number }): void;
  /**
   * `out[r * k + j] = W[ids[r, j]] x + bias[ids[r, j]]`. x `[rows, in]` (each row serves its k products) or
   * `[rows * k, in]`; out `[rows * k, out]`. Each matrix that is needed is read once for all rows that need it.
   */
  expertLinear(x: Tensor, weight: MatrixStack, out: Tensor, options: ExpertLinear): void;
  /** `out[r] = keep * out[r] + Σ_j weights[r, j] * x[r * k + j]`, summed in the order of j. x `[rows * k, cols]`. */
  combine(x: Tensor, weights: Tensor, out: Tensor, options: { keep: number }): void;
  /** Block-diagonal: `out[r, h] = W[h] x[r, h]` for h < count. x `[rows, count * in]`, out `[rows, count * out]`. */
  headLinear(x: Tensor, weight: MatrixStack, out: Tensor): void;
}
