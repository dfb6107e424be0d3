import type { ExpertOps } from './expert-ops.js';
import type { RecurrentOps } from './recurrent-ops.js';
import type { StateSpec } from '../axes/state.js';
import type { Matrix, Precision, State, Tensor, Vector, WeightData } from './tensor.js';

/** Names of the activation functions that arithmetic knows. `gelu` is the erf form. */
export type ActivationName =
  'silu' | 'gelu' | 'gelu_tanh' | 'quick_gelu' | 'relu' | 'relu2' | 'tanh' | 'sigmoid' | 'softplus' | 'identity';

/** Options of the two norms. A row is cut in groups of `size` columns, each normalised alone. */
export interface NormOptions {
  /** Columns of a group: `cols` for a whole row, `head_dim` for a norm per head. Divides `cols`. */
  readonly size: number;
  readonly eps: number;
  /** Added to the weight: 1 for the `(1 + w)` form, else 0. */
  readonly offset: 0 | 1;
  /** `[size]` (the same for each group) or `[cols]` (its own for each group); null: no weight. */
  readonly weight: Vector | null;
}

/** cos and sin of a rope table for the rows of this call, both `[rows, dims / 2]`. */
export interface RopeAngles {
  readonly cos: Tensor;
  readonly sin: Tensor;
  /** Rotated columns of a head, even. */
  readonly dims: number;
}

/** Which columns of a row turn, and how they pair. */
export interface RopeRotation {
  readonly heads: number;
  readonly headDim: number;
  /** First rotated column within a head: 0, or `headDim - dims` where the last ones rotate. */
  readonly from: number;
  /** `half`: column i pairs with i + dims/2; `interleaved`: 2i with 2i + 1. */
  readonly layout: 'half' | 'interleaved';
  /** True turns the other way (the transposed rotation). */
  readonly inverse: boolean;
}

/** The rows `[start, start + length)` of a call that belong to one sequence, and its cached keys and values. */
export interface KvSegment {
  readonly start: number;
  readonly length: number;
  /** Position of the first of these rows in its sequence. */
  readonly position: number;
  /** `[tokens, kv_heads * key_dim]`, this call's rows included. */
  readonly keys: State;
  /** `[tokens, kv_heads * value_dim]`; with one key head it may be `keys` itself: then a value is the first part of its key. */
  readonly values: State;
}

export interface AttendOptions {
  readonly segments: readonly KvSegment[];
  readonly heads: number;
  readonly kvHeads: number;
  readonly keyDim: number;
  readonly valueDim: number;
  /** Multiplies q·k. */
  readonly scale: number;
  /** Keys seen, the query's own included; null: all before it. */
  readonly window: number | null;
  /** Keys of the query's own block of this many positions only; null: no blocks. */
  readonly chunk: number | null;
  /** `cap * tanh(score / cap)` after scale and bias, before the softmax. */
  readonly softcap: number | null;
  /** `[heads]`, a logit per head in the denominator that brings no value. */
  readonly sinks: Vector | null;
  /** `[heads]`, ALiBi: `slope * (key position - query position)` is added to the scaled score. */
  readonly slopes: Vector | null;
}

export interface LinearOptions {
  readonly bias: Vector | null;
}

/**
 * The one way to arithmetic. Parts call it with handles and never index memory. Implementations: reference
 * (TypeScript, f32 with f64 accumulation, the oracle), native (C++), and later a GPU. Calls may be recorded
 * and run later; only `host` waits for them.
 *
 * `out` may be one of the inputs where a line says "in place".
 */
export interface Ops extends ExpertOps, RecurrentOps {
  /** `reference`, or the native kernel set: `avx2`. */
  readonly name: string;
  readonly threads: number;

  // --- memory ---------------------------------------------------------------------------------
  /** Scratch for activations, contents undefined. Freed by `release` of a mark taken before it, as `upload` is. */
  tensor(rows: number, cols: number, dtype?: 'f32' | 'i32'): Tensor;
  mark(): number;
  release(mark: number): void;
  /** The same memory, columns `[start, start + count)`. */
  columns(x: Tensor, start: number, count: number): Tensor;
  /** The same memory, rows `[start, start + count)`. */
  rows(x: Tensor, start: number, count: number): Tensor;
  /** The same memory and order in another shape; the rows of `x` must be adjacent. */
  reshape(x: Tensor, rows: number, cols: number): Tensor;
  /** A tensor with these values (copied). */
  upload(data: Float32Array | Int32Array, rows: number, cols: number): Tensor;
  /**
   * The values of `x`, row-major, after all calls so far. Good until the next call: what is needed longer is copied.
   * Changing them need not change `x`; see `write`.
   */
  host(x: Tensor): Float32Array | Int32Array;
  /** Sets all values of `x`. */
  write(x: Tensor, data: Float32Array | Int32Array): void;

  // --- weights --------------------------------------------------------------------------------
  /** Shape `[out, in]`. `precision` null: as stored. */
  matrix(data: WeightData, precision: Precision | null): Matrix;
  /**
   * A float matrix or stack as these ops hold it in that precision: what `matrix` and `stack` take without further
   * work. Throws KVAD_E_QUANT_UNSUPPORTED, and KVAD_E_QUANT_RANGE for values that it cannot hold.
   */
  pack(data: WeightData, precision: 'q8' | 'q4'): WeightData;
  /** Version of what `pack` makes; null: these ops pack nothing. */
  readonly quantLayout: number | null;
  vector(data: WeightData): Vector;
  /** A vector made by a part (ALiBi slopes). */
  constant(values: Float32Array): Vector;

  // --- state ----------------------------------------------------------------------------------
  state(spec: StateSpec): State;
  /** Bytes held now by a state. */
  stateBytes(state: State): number;
  /** Growing kinds: forget rows from `length` on. */
  truncate(state: State, length: number): void;
  /** A copy of the contents, for snapshots; `restore` puts it back. */
  snapshot(state: State): StateSnapshot;
  restore(state: State, snapshot: StateSnapshot): void;
  freeState(state: State): void;
  /**
   * Writes the rows `[start, start + length)` of `x` at the state's rows from `position` on, at most its length; rows
   * behind them are forgotten. Growing kinds.
   */
  append(state: State, x: Tensor, start: number, length: number, position: number): void;
  /** The state as a tensor `[length, width]` over the same memory, until it grows or is restored. */
  stateTensor(state: State): Tensor;

  // --- arithmetic -----------------------------------------------------------------------------
  /** `out[r] = scale * table[ids[r] + offset]`; ids i32 `[rows, 1]`. Add to `out` instead with `add`. */
  embed(table: Matrix, ids: Tensor, out: Tensor, options: { scale: number; offset: number; add: boolean }): void;
  /** `out = x Wᵀ + bias`. x `[rows, in]`, out `[rows, out]`. */
  linear(x: Tensor, weight: Matrix, out: Tensor, options: LinearOptions): void;
  /** `out = x / sqrt(mean(x²) + eps) * (weight + offset)` in each group. In place. */
  rmsNorm(x: Tensor, out: Tensor, options: NormOptions): void;
  /** `out = (x - mean) / sqrt(var + eps) * (weight + offset) + bias` in each group. In place. */
  layerNorm(x: Tensor, out: Tensor, options: NormOptions & { bias: Vector | null }): void;
  /** `out = f(x)`. In place. */
  activate(x: Tensor, out: Tensor, f: ActivationName): void;
  /** `out = f(gate) * x`. In place on either. */
  gated(gate: Tensor, x: Tensor, out: Tensor, f: ActivationName): void;
  /**
   * `out = x > 0 ? alphaP x² + beta x : alphaN (exp(min(x, eps)) - 1 - x) + beta x`, the alphas as they act (softplus
   * applied to what is stored). In place.
   */
  xielu(x: Tensor, out: Tensor, options: { alphaP: number; alphaN: number; beta: number; eps: number }): void;
  /** `out = keep * out + scale * x`; with `keep` 0 what `out` held does not count. */
  add(x: Tensor, out: Tensor, options: { keep: number; scale: number }): void;
  /** `out = x * y`, elementwise. In place. */
  multiply(x: Tensor, y: Tensor, out: Tensor): void;
  /** `out[r, g*size + j] = x[r, g*size + j] * factors[r, g]`: one factor a group. In place on x. */
  scaleGroups(x: Tensor, factors: Tensor, out: Tensor, options: { size: number }): void;
  /** `out[r, c] = x[r, c] * scale[c] + bias[c]`, both `[cols]`, null: 1 and 0. In place. */
  affine(x: Tensor, out: Tensor, options: { scale: Vector | null; bias: Vector | null }): void;
  /** `out = scale * x`. In place. */
  scale(x: Tensor, out: Tensor, scale: number): void;
  /** `out = min(max(x, low), high)`; null: no bound on that side. In place. */
  clamp(x: Tensor, out: Tensor, options: { low: number | null; high: number | null }): void;
  /** `out = cap * tanh(x / cap)`. In place. */
  softcap(x: Tensor, out: Tensor, cap: number): void;
  copy(x: Tensor, out: Tensor): void;
  /** Turns the heads of `x` `[rows, heads * headDim]` by this call's angles, in place. */
  rope(x: Tensor, angles: RopeAngles, rotation: RopeRotation): void;
  /**
   * Causal softmax attention; this call's keys and values have been appended. q `[rows, heads * key_dim]`, out
   * `[rows, heads * value_dim]`; rows outside of all segments keep what `out` held.
   */
  attend(q: Tensor, out: Tensor, options: AttendOptions): void;

  /** Frees what the ops own. Handles are dead afterwards. */
  dispose(): void;
}

/** Contents of a state at a moment; bytes tell what a snapshot costs. */
export interface StateSnapshot {
  readonly length: number;
  readonly bytes: number;
  readonly data: unknown;
}
