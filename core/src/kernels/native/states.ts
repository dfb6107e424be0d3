import { growing } from '../../axes/state.js';
import { decodeFloats } from '../half.js';
import type { Ops, StateSnapshot } from '../ops.js';
import type { State, Tensor } from '../tensor.js';
import type { CommandList } from './commands.js';
import { NativeState, StateView, stateOf } from './handles.js';

type StateOps = Pick<
  Ops,
  'state' | 'stateBytes' | 'truncate' | 'snapshot' | 'restore' | 'freeState' | 'append' | 'stateTensor'
>;

/** What a state that grows has at least: growing waits for the threads, and copies. */
const LEAST_BYTES = 2 ** 15;

/** The memory of sequences. It lies outside of the arena; `half`: what states of dtype `cache` are held in. */
export const stateOps = (list: CommandList, half: boolean): StateOps => {
  const { addon, engine } = list;
  return {
    state(spec) {
      const width = spec.shape.reduce((product, size) => product * size, 1);
      const narrow = spec.dtype === 'f16' || (spec.dtype === 'cache' && half);
      const id = addon.state(engine, width, narrow ? 1 : 0, spec.init);
      const state = new NativeState(id, spec.name, width, growing(spec.kind), narrow);
      if (!state.grows) state.bytes = addon.stateReserve(engine, id, 1);
      return state as unknown as State;
    },

    stateBytes(state) {
      return stateOf(state).bytes;
    },

    truncate(state, length) {
      const s = stateOf(state);
      if (!s.grows || length < 0 || length > s.length) throw new Error(`truncate: state ${s.name} to ${length}`);
      s.length = length;
    },

    snapshot(state): StateSnapshot {
      const s = stateOf(state);
      list.run();
      const data = new Uint8Array(s.length * s.rowBytes);
      addon.stateRead(engine, s.id, 0, s.length, data);
      return { length: s.length, bytes: data.byteLength, data };
    },

    restore(state, { length, data }) {
      const s = stateOf(state);
      if (!(data instanceof Uint8Array) || data.byteLength !== length * s.rowBytes) {
        throw new Error(`restore: the snapshot is not one of state ${s.name}`);
      }
      list.run();
      if (length > 0) s.bytes = addon.stateReserve(engine, s.id, length);
      addon.stateWrite(engine, s.id, 0, length, data);
      s.length = length;
    },

    freeState(state) {
      const s = stateOf(state);
      list.run();
      addon.stateFree(engine, s.id);
      s.live = false;
    },

    append(state, x, start, length, position) {
      const s = stateOf(state);
      if (!s.grows || position < 0 || position > s.length) {
        throw new Error(`append: rows at ${position} of state ${s.name}, which has ${s.length}`);
      }
      if ((position + length) * s.rowBytes > s.bytes) {
        const rows = Math.max(position + length, Math.ceil(LEAST_BYTES / s.rowBytes));
        s.bytes = addon.stateReserve(engine, s.id, rows);
      }
      list.begin('append').number(s.id).tensor(x).number(start).number(length).number(position).end();
      s.length = position + length;
    },

    stateTensor(state) {
      return new StateView(stateOf(state)) as unknown as Tensor;
    },
  };
};

/** The values of a state, widened where it is f16. */
export const readState = ({ addon, engine }: CommandList, state: NativeState): Float32Array => {
  const bytes = new Uint8Array(state.length * state.rowBytes);
  addon.stateRead(engine, state.id, 0, state.length, bytes);
  return Float32Array.from(decodeFloats(bytes, state.half ? 'F16' : 'F32'));
};

export const writeState = (
  { addon, engine }: CommandList,
  state: NativeState,
  data: Float32Array | Int32Array,
): void => {
  if (state.half) throw new Error(`state ${state.name} is f16: append to it`);
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  addon.stateWrite(engine, state.id, 0, state.length, bytes);
};
