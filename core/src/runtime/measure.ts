import { growing } from '../axes/state.js';
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
  slots.reduce((total, { spec }) => {
    if (!growing(spec.kind)) return total;
    const dtype = spec.dtype === 'cache' ? cacheDtype : spec.dtype;
    return total + (product(spec.shape) * (dtype === 'f16' ? 2 : 4)) / (spec.every ?? 1);
  }, 0);

const product = (shape: readonly number[]): number => shape.reduce((total, size) => total * size, 1);
