import type { State, Tensor, Vector } from './tensor.js';

/** The rows `[start, start + length)` of a call that belong to one sequence, and its state (fixed kind, f32). */
export interface RecurrentSegment {
  readonly start: number;
  readonly length: number;
  readonly state: State;
}

export interface CausalConv {
  readonly segments: readonly RecurrentSegment[];
  /** `[channels * kernel]`, channel by channel, oldest input first (a Conv1d's `[channels, 1, kernel]`). */
  readonly weight: Vector;
  readonly bias: Vector | null;
  readonly kernel: number;
}

export interface DeltaRule {
  readonly segments: readonly RecurrentSegment[];
  /** Query and key heads; value head h belongs to key head floor(h * keyHeads / valueHeads). */
  readonly keyHeads: number;
  readonly valueHeads: number;
  readonly keyDim: number;
  readonly valueDim: number;
}

/** Mixers with a state of fixed size: part of `Ops`. A call moves the states on by the segments' rows. */
export interface RecurrentOps {
  /**
   * Depthwise causal convolution: `out[t, c] = bias[c] + Σ_j weight[c, j] * x[t - kernel + 1 + j, c]`, with the last
   * kernel - 1 inputs of the sequence before this call from the state `[channels, kernel - 1]` (oldest first), which
   * then holds the last inputs of this call. out must not be x.
   */
  causalConv(x: Tensor, out: Tensor, options: CausalConv): void;
  /** `out = x / sqrt(Σ x² + eps)` in groups of `size` columns. In place. */
  l2Norm(x: Tensor, out: Tensor, options: { size: number; eps: number }): void;
  /**
   * Gated delta rule, state S `[valueHeads, keyDim, valueDim]`, for each token and value head:
   *   S = exp(decay) S;  S += k ⊗ beta (v - Sᵀ k);  out = Sᵀ q
   * q, k `[rows, keyHeads * keyDim]`, v, out `[rows, valueHeads * valueDim]`, decay and beta `[rows, valueHeads]`.
   * Source: arXiv:2412.06464.
   */
  deltaRule(
    inputs: { q: Tensor; k: Tensor; v: Tensor; decay: Tensor; beta: Tensor },
    out: Tensor,
    options: DeltaRule,
  ): void;
}
