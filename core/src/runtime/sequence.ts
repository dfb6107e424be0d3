import { Checkpoints } from './checkpoints.js';
import type { Model } from './model.js';
import type { SequenceStates, StatesSnapshot } from './sequence-states.js';

/** How densely and within how much memory a sequence keeps the way back, where its states cannot be cut. */
export interface CheckpointPolicy {
  /** A checkpoint at each multiple of this many tokens, beside those at the ends of turns. */
  readonly every: number;
  /** Bytes of checkpoints held. */
  readonly budget: number;
}

export const CHECKPOINT_POLICY: CheckpointPolicy = { every: 256, budget: 256 * 2 ** 20 };

/** All that a sequence holds at a moment. */
export interface SequenceSnapshot {
  readonly ids: readonly number[];
  readonly states: StatesSnapshot;
  readonly epoch: number;
}

/** Token ids and the states that a model has made of them. The two always agree: an error leaves none of either. */
export class Sequence {
  readonly states: SequenceStates;
  readonly #model: Model;
  readonly #policy: CheckpointPolicy;
  readonly #checkpoints: Checkpoints;
  #ids: number[] = [];
  #epoch: number;

  constructor(model: Model, policy: CheckpointPolicy = CHECKPOINT_POLICY) {
    this.#model = model;
    this.#policy = policy;
    this.#checkpoints = new Checkpoints(policy.budget);
    this.#epoch = model.rope.epoch(0);
    this.states = model.states();
  }

  get ids(): readonly number[] {
    return this.#ids;
  }

  get length(): number {
    return this.#ids.length;
  }

  /** Rows that a chunk starting here may have before a checkpoint is due: a regular one, or the one asked for. */
  rowsToCheckpoint(at: number): number {
    if (this.states.cuttable) return Infinity;
    const regular = this.#policy.every - (this.length % this.#policy.every);
    return at > this.length ? Math.min(regular, at - this.length) : regular;
  }

  /** False if what is cached cannot be continued to that length: it was computed with angles that no longer hold. */
  continuesTo(length: number): boolean {
    return this.length === 0 || this.#model.rope.epoch(length) === this.#epoch;
  }

  /** The states now hold these ids too. `finalLength`: what their angles were computed for. */
  commit(ids: readonly number[], finalLength: number): void {
    if (this.length === 0) this.#epoch = this.#model.rope.epoch(finalLength);
    for (const id of ids) this.#ids.push(id);
    if (this.length % this.#policy.every === 0) this.checkpoint();
  }

  /** Makes this length one that `truncate` can land on. */
  checkpoint(): void {
    if (!this.states.cuttable) this.#checkpoints.add(this.length, () => this.states.snapshot('uncuttable'));
  }

  /** Forgets tokens from `length` on, or more where states only go back to a checkpoint. Returns where it landed. */
  truncate(length: number): number {
    if (length >= this.length) return this.length;
    if (length <= 0) {
      this.reset();
      return 0;
    }
    if (!this.states.cuttable) {
      const checkpoint = this.#checkpoints.before(length);
      if (!checkpoint) {
        this.reset();
        return 0;
      }
      this.states.restore(checkpoint.snapshot);
      this.#keep(checkpoint.length);
    } else {
      this.#keep(length);
    }
    return this.length;
  }

  snapshot(): SequenceSnapshot {
    return { ids: [...this.#ids], states: this.states.snapshot('all'), epoch: this.#epoch };
  }

  /** Checkpoints stay where both agree in ids and angles. */
  restore({ ids, states, epoch }: SequenceSnapshot): void {
    this.#checkpoints.cut(epoch === this.#epoch ? commonPrefix(this.#ids, ids) : 0);
    this.states.restore(states);
    this.#ids = [...ids];
    this.#epoch = epoch;
  }

  /** Back to the start. */
  reset(): void {
    this.states.reset();
    this.#checkpoints.cut(0);
    this.#ids = [];
  }

  free(): void {
    this.states.free();
    this.#checkpoints.cut(0);
    this.#ids = [];
  }

  #keep(length: number): void {
    this.states.cut(length);
    this.#checkpoints.cut(length);
    this.#ids.length = length;
  }
}

export const commonPrefix = (a: readonly number[], b: readonly number[]): number => {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
};
