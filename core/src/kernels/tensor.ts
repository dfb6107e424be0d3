/** Handles. Nothing outside `kernels/` may look inside one: a GPU keeps its data elsewhere. */

/** How weights are held for arithmetic. */
export type Precision = 'f32' | 'f16' | 'bf16' | 'q8' | 'q4';

/** Element types of activations and state. */
export type ElementType = 'f32' | 'f16' | 'i32';

declare const handle: unique symbol;

/**
 * Activations: a row-major view `[rows, cols]`, one row per token of the call. A view may be a
 * window of a wider tensor (see `Ops.columns`), so rows need not be adjacent in memory.
 */
export interface Tensor {
  readonly [handle]: 'tensor';
  readonly rows: number;
  readonly cols: number;
  readonly dtype: 'f32' | 'i32';
}

/** A weight matrix `[rows = out features, cols = in features]`: `y = W x`. */
export interface Matrix {
  readonly [handle]: 'matrix';
  readonly rows: number;
  readonly cols: number;
  readonly precision: Precision;
}

/** `count` weight matrices of one shape (the experts of a layer), `[count, rows, cols]`. */
export interface MatrixStack {
  readonly [handle]: 'stack';
  readonly count: number;
  readonly rows: number;
  readonly cols: number;
  readonly precision: Precision;
}

/** A weight vector, always f32: norm weights, biases, sinks, slopes. Tensors of higher rank are flat. */
export interface Vector {
  readonly [handle]: 'vector';
  readonly length: number;
}

/** Memory of one op of one sequence, described by a `StateSpec`. Rows `[0, length)` are filled. */
export interface State {
  readonly [handle]: 'state';
  readonly name: string;
  /** Elements of a row (of a token for growing kinds, of the whole state for fixed kinds). */
  readonly width: number;
  /** Rows held now: tokens for growing kinds, 1 for fixed kinds. */
  readonly length: number;
}

/**
 * A weight tensor as the checkpoint holds it, after its transform; `bytes` may be a view of the file. `Q8` and `Q4` are
 * matrices in the layout of the ops that packed them.
 */
export interface WeightData {
  readonly dtype: 'F32' | 'F16' | 'BF16' | 'I32' | 'I64' | 'Q8' | 'Q4';
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}
