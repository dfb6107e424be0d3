import type { Batch } from '../axes/context.js';
import type { ForwardContext } from '../axes/parts.js';
import type { Ops, RopeAngles } from '../kernels/ops.js';
import type { RopeTables } from '../kernels/rope-tables.js';
import type { Tensor } from '../kernels/tensor.js';
import type { SequenceStates } from './sequence-states.js';

/**
 * Takes logits as they are computed, in blocks of rows, so that those of a long run of rows are never held together.
 * `rows` [from, to) count from the first id that was given; `take` gets `[rows of the block, vocab]`, which is valid
 * during the call only, and the number of its first row.
 */
export interface LogitsSink {
  readonly from: number;
  readonly to: number;
  take(block: Float32Array, firstRow: number): void;
}

/** Of which rows logits are wanted: as one array, or given to a sink. */
export type WantedLogits = 'none' | 'last' | 'all' | LogitsSink;

/** What one sequence brings to a forward. */
export interface SequenceRows {
  readonly ids: readonly number[];
  /** Position of the first of `ids`: the tokens whose state is held. */
  readonly position: number;
  /** Length of the sequence at the end of the whole call that these rows are a chunk of. */
  readonly finalLength: number;
  readonly states: SequenceStates;
  /** Of which of these rows logits are wanted. */
  readonly logits: WantedLogits;
  /** Where the `last` logits are put, `[vocab]`. A vocabulary allocated at each token keeps the collector busy. */
  readonly into?: Float32Array | undefined;
}

/** One forward of several sequences: its rows, angles, side inputs, and what layers share. */
export class Pass implements ForwardContext {
  readonly batch: Batch;
  readonly shared = new Map<string, unknown>();
  readonly states: readonly SequenceStates[];
  readonly #ops: Ops;
  readonly #angles: ReadonlyMap<string, RopeAngles>;
  readonly #inputs = new Map<string, Tensor>();

  constructor(ops: Ops, ropeTables: readonly string[], rope: RopeTables, sequences: readonly SequenceRows[]) {
    const ids = Int32Array.from(sequences.flatMap((sequence) => sequence.ids));
    const rows = ids.length;
    const positions = new Int32Array(rows);
    const lengths = new Int32Array(rows);
    let start = 0;
    const segments = sequences.map((rowsOf, sequence) => {
      const segment = { sequence, start, length: rowsOf.ids.length, position: rowsOf.position };
      for (let i = 0; i < segment.length; i++) positions[start + i] = rowsOf.position + i;
      lengths.fill(rowsOf.finalLength, start, start + segment.length);
      start += segment.length;
      return segment;
    });
    this.#ops = ops;
    this.states = sequences.map(({ states }) => states);
    this.batch = { rows, segments, tokenIds: ops.upload(ids, rows, 1), positions: ops.upload(positions, rows, 1) };
    this.#angles = new Map(
      ropeTables.map((id) => {
        const { cos, sin, dims } = rope.angles(id, positions, lengths);
        return [id, { cos: ops.upload(cos, rows, dims / 2), sin: ops.upload(sin, rows, dims / 2), dims }];
      }),
    );
  }

  rope(id: string): RopeAngles {
    const angles = this.#angles.get(id);
    if (!angles) {
      const known = [...this.#angles.keys()].join(', ') || 'none';
      throw new Error(`the plan has no rope table "${id}"; it has: ${known}`);
    }
    return angles;
  }

  input(name: string): Tensor {
    const input = this.#inputs.get(name);
    if (!input) throw new Error(`the side input "${name}" is not there (yet)`);
    return input;
  }

  addInput(name: string, value: Tensor): void {
    this.#inputs.set(name, value);
  }

  /** Frees the scratch that `act` took. */
  scratch(act: () => void): void {
    const mark = this.#ops.mark();
    act();
    this.#ops.release(mark);
  }
}
