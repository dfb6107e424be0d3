import type { RopeAngles } from '../kernels/ops.js';
import type { State, Tensor } from '../kernels/tensor.js';

/** Rows of a call that belong to one sequence. Several sequences may share a call. */
export interface Segment {
  /** Index of the sequence in `Batch.segments`. */
  readonly sequence: number;
  /** First row of the call that is this sequence's. */
  readonly start: number;
  readonly length: number;
  /** Position of that first row in its sequence. */
  readonly position: number;
}

/** What one forward computes: `rows` tokens of one or several sequences. */
export interface Batch {
  readonly rows: number;
  readonly segments: readonly Segment[];
  /** i32 `[rows, 1]`. */
  readonly tokenIds: Tensor;
  /** i32 `[rows, 1]`, each row's position in its own sequence. */
  readonly positions: Tensor;
}

/** What an op sees besides its input. Routers, activations and norms do not need it. */
export interface LayerContext {
  readonly batch: Batch;
  /** Layer number and visit number in the schedule (they differ where layers are looped or shared). */
  readonly layer: number;
  readonly visit: number;
  /** This call's angles of a table of the plan, by id. */
  rope(id: string): RopeAngles;
  /** This op's state of that name, one per segment, in the order of `batch.segments`. */
  state(name: string): readonly State[];
  /** The residual stream as the block holds it before this op. */
  readonly residual: Tensor;
  /** Side inputs of the plan, by name. */
  input(name: string): Tensor;
  /**
   * Shared between the layers of one forward: a producer's states, selected indices, a router's hidden state. Scratch
   * tensors do not belong here: those of an op are gone when it returns.
   */
  readonly shared: Map<string, unknown>;
}
