import { growing, type StateSpec } from '../axes/state.js';
import type { Ops, StateSnapshot } from '../kernels/ops.js';
import type { State } from '../kernels/tensor.js';

/** A memory that a model needs for each sequence: which op, at which visit of the schedule, and what it holds. */
export interface StateSlot {
  readonly visit: number;
  readonly op: number;
  readonly spec: StateSpec;
}

/** Contents of states at a moment, in the order of the slots; null: not held, because it can be cut instead. */
export interface StatesSnapshot {
  readonly states: readonly (StateSnapshot | null)[];
  readonly bytes: number;
}

/** True for a state that can be cut back to any length: it holds a row for each token and each row stands alone. */
const cuttable = (spec: StateSpec): boolean => growing(spec.kind) && spec.rollback === 'any';

/** All memory of one sequence. */
export class SequenceStates {
  readonly #ops: Ops;
  readonly #slots: readonly StateSlot[];
  readonly #places: ReadonlyMap<string, number>;
  #states: State[];

  constructor(ops: Ops, slots: readonly StateSlot[]) {
    this.#ops = ops;
    this.#slots = slots;
    this.#places = new Map(slots.map(({ visit, op, spec }, index) => [`${visit} ${op} ${spec.name}`, index]));
    this.#states = slots.map(({ spec }) => ops.state(spec));
  }

  /** False if some state only goes back to a snapshot. */
  get cuttable(): boolean {
    return this.#slots.every(({ spec }) => cuttable(spec));
  }

  get bytes(): number {
    return this.#states.reduce((total, state) => total + this.#ops.stateBytes(state), 0);
  }

  find(visit: number, op: number, name: string): State | undefined {
    const place = this.#places.get(`${visit} ${op} ${name}`);
    return place === undefined ? undefined : this.#states[place];
  }

  /** Forgets tokens from `length` on in the states that can be cut; the others are left as they are. */
  cut(length: number): void {
    this.#slots.forEach(({ spec }, index) => {
      if (cuttable(spec)) this.#ops.truncate(this.#states[index]!, Math.floor(length / (spec.every ?? 1)));
    });
  }

  /** `all`, or only those states that `cut` does not reach. */
  snapshot(which: 'all' | 'uncuttable'): StatesSnapshot {
    const states = this.#slots.map(({ spec }, index) =>
      which === 'uncuttable' && cuttable(spec) ? null : this.#ops.snapshot(this.#states[index]!),
    );
    return { states, bytes: states.reduce((total, state) => total + (state?.bytes ?? 0), 0) };
  }

  restore({ states }: StatesSnapshot): void {
    states.forEach((snapshot, index) => {
      if (snapshot) this.#ops.restore(this.#states[index]!, snapshot);
    });
  }

  /** Back to the start. */
  reset(): void {
    this.free();
    this.#states = this.#slots.map(({ spec }) => this.#ops.state(spec));
  }

  free(): void {
    for (const state of this.#states) this.#ops.freeState(state);
    this.#states = [];
  }
}
