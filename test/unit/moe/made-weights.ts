import type { WeightData, WeightSlot } from '@kvad/core/plugin';
import type { Ops, PartWeights } from '@kvad/core';

/** Flat values of a slot, in float32. */
export type SlotValues = (slot: WeightSlot) => Float32Array;

const dataOf = ({ shape }: WeightSlot, values: Float32Array): WeightData => ({
  dtype: 'F32',
  shape,
  bytes: new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
});

/** Handles for the weights of a part, each slot filled with the values that `valuesOf` gives it. */
export const madeWeights = (ops: Ops, slots: readonly WeightSlot[], valuesOf: SlotValues, prefix = ''): PartWeights => {
  const find = (name: string): { slot: WeightSlot; values: Float32Array } => {
    const slot = slots.find((one) => one.name === prefix + name);
    if (slot === undefined) throw new Error(`no slot ${prefix}${name} was asked for`);
    return { slot, values: valuesOf(slot) };
  };
  return {
    matrix: (name) => {
      const { slot, values } = find(name);
      return ops.matrix(dataOf(slot, values), null);
    },
    stack: (name) => {
      const { slot, values } = find(name);
      return ops.stack(dataOf(slot, values), null);
    },
    vector: (name) => ops.constant(find(name).values),
    integers: (name) => Int32Array.from(find(name).values),
    values: (name) => find(name).values,
    under: (more) => madeWeights(ops, slots, valuesOf, prefix + more),
  };
};
