import { growing, type StateSpec } from '../axes/state.js';
import type { BoundWeights } from '../checkpoint/checkpoint.js';
import type { PlannedSlot } from '../plan/planned-slot.js';
import type { StateSlot } from './sequence-states.js';

/** Elements of all weights; slots with one source count once. */
export const countParameters = (slots: readonly PlannedSlot[], weights: BoundWeights): number => {
  const bySource = new Map(slots.map(({ name, shape }) => [weights.sourceOf(name), product(shape)]));
  return [...bySource.values()].reduce((total, elements) => total + elements, 0);
};

/** Bytes that one more token takes in the states that grow. */
export const stateBytesPerToken = (slots: readonly StateSlot[], cacheDtype: 'f16' | 'f32'): number =>
  slots.reduce(
    (total, { spec }) => (growing(spec.kind) ? total + rowBytes(spec, cacheDtype) / (spec.every ?? 1) : total),
    0,
  );

/** Bytes of all states of a sequence of so many tokens, rows that are kept for more to come not counted. */
export const stateBytes = (slots: readonly StateSlot[], cacheDtype: 'f16' | 'f32', tokens: number): number =>
  slots.reduce(
    (total, { spec }) => total + (growing(spec.kind) ? 0 : rowBytes(spec, cacheDtype)),
    tokens * stateBytesPerToken(slots, cacheDtype),
  );

/** Of a row of a growing state, or all of another. */
const rowBytes = ({ shape, dtype }: StateSpec, cacheDtype: 'f16' | 'f32'): number =>
  product(shape) * ((dtype === 'cache' ? cacheDtype : dtype) === 'f16' ? 2 : 4);

const product = (shape: readonly number[]): number => shape.reduce((total, size) => total * size, 1);
