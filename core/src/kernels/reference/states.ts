import { growing, type StateSpec } from '../../axes/state.js';
import { roundToF16 } from '../half.js';
import type { Ops, StateSnapshot } from '../ops.js';
import type { State } from '../tensor.js';
import {
  HostTensor,
  hostTensor,
  newMemory,
  shapeError,
  tensorHandle,
  type Lifetime,
  type Memory,
} from './host-tensor.js';

const FIRST_ROWS = 64;

/** One op's memory of one sequence. f16 values are rounded when written and lie in float32. */
export class HostState {
  readonly name: string;
  /** Elements of a row. */
  readonly width: number;
  readonly grows: boolean;
  readonly dtype: 'f32' | 'f16' | 'i32';
  memory: Memory;
  /** Of tensors over `memory`: ends when the state moves to larger memory. */
  lifetime: Lifetime = { live: true };
  length: number;
  live = true;

  constructor(
    spec: StateSpec,
    cacheDtype: 'f16' | 'f32',
    /** The ops that made it. */
    readonly owner: Lifetime,
  ) {
    this.name = spec.name;
    this.width = spec.shape.reduce((product, size) => product * size, 1);
    this.grows = growing(spec.kind);
    this.dtype = spec.dtype === 'cache' ? cacheDtype : spec.dtype;
    this.memory = newMemory(this.grows ? 0 : this.width);
    this.length = this.grows ? 0 : 1;
    if (!this.grows) this.memory[this.view].fill(this.dtype === 'f16' ? roundToF16(spec.init) : spec.init);
  }

  get view(): 'f32' | 'i32' {
    return this.dtype === 'i32' ? 'i32' : 'f32';
  }

  /** Room for that many rows; doubles, so that appending costs constant time a row. */
  reserve(rows: number): void {
    const capacity = this.width === 0 ? rows : this.memory.i32.length / this.width;
    if (rows <= capacity) return;
    const larger = newMemory(Math.max(rows, capacity * 2, FIRST_ROWS) * this.width);
    larger.i32.set(this.memory.i32.subarray(0, this.length * this.width));
    this.move(larger);
  }

  move(memory: Memory): void {
    this.lifetime.live = false;
    this.lifetime = { live: true };
    this.memory = memory;
  }
}

export const hostState = (handle: State): HostState => {
  const state: unknown = handle;
  if (!(state instanceof HostState)) throw new Error('a state of other ops was given to the reference ops');
  if (!state.live || !state.owner.live) throw new Error(`state ${state.name} is used after it was freed`);
  return state;
};

const growingState = (op: string, handle: State): HostState => {
  const state = hostState(handle);
  if (!state.grows) throw new Error(`${op}: state ${state.name} is of a fixed kind`);
  return state;
};

type StateOps = Pick<
  Ops,
  'state' | 'stateBytes' | 'truncate' | 'snapshot' | 'restore' | 'freeState' | 'append' | 'stateTensor'
>;

export const stateOps = (cacheDtype: 'f16' | 'f32', owner: Lifetime): StateOps => ({
  state: (spec) => new HostState(spec, cacheDtype, owner) as unknown as State,

  stateBytes: (handle) => hostState(handle).memory.i32.byteLength,

  truncate(handle, length) {
    const state = growingState('truncate', handle);
    if (length < 0 || length > state.length) {
      throw new Error(`truncate: state ${state.name} holds ${state.length} rows, not ${length}`);
    }
    state.length = length;
  },

  snapshot(handle): StateSnapshot {
    const { length, width, memory } = hostState(handle);
    const data = memory.i32.slice(0, length * width);
    return { length, bytes: data.byteLength, data };
  },

  restore(handle, { length, data }) {
    const state = hostState(handle);
    if (!(data instanceof Int32Array) || data.length !== length * state.width) {
      throw new Error(`restore: the snapshot is not one of state ${state.name}`);
    }
    state.reserve(length);
    state.memory.i32.set(data);
    state.length = length;
  },

  freeState(handle) {
    const state = hostState(handle);
    state.move(newMemory(0));
    state.live = false;
  },

  append(handle, source, start, length, position) {
    const state = growingState('append', handle);
    const x = hostTensor(source);
    if (x.cols !== state.width || start < 0 || start + length > x.rows) {
      throw shapeError('append', `state ${state.name} takes rows of ${state.width}`, { x, start, length });
    }
    if (x.dtype !== state.view) throw new Error(`append: ${x.dtype} rows for state ${state.name} of ${state.dtype}`);
    if (position < 0 || position > state.length) {
      throw new Error(`append: rows at ${position} leave a hole in state ${state.name} of ${state.length} rows`);
    }
    state.reserve(position + length);
    const { f32, i32 } = state.memory;
    for (let r = 0; r < length; r++) {
      const from = x.offset + (start + r) * x.stride;
      const to = (position + r) * state.width;
      if (state.dtype === 'f16') {
        for (let c = 0; c < state.width; c++) f32[to + c] = roundToF16(x.f32[from + c]!);
      } else {
        i32.set(x.i32.subarray(from, from + state.width), to);
      }
    }
    state.length = position + length;
  },

  stateTensor(handle) {
    const state = hostState(handle);
    const { f32, i32 } = state.memory;
    return tensorHandle(
      new HostTensor(state.length, state.width, state.view, f32, i32, 0, state.width, state.lifetime),
    );
  },
});
