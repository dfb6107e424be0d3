import type { ModelPlan } from '@kvad/schemas';
import type { Parts } from '../axes/parts.js';
import type { BoundWeights } from '../checkpoint/checkpoint.js';
import type { Ops } from '../kernels/ops.js';
import type { Matrix, MatrixStack, WeightData } from '../kernels/tensor.js';
import type { PlannedSlot } from '../plan/planned-slot.js';
import { Model } from './model.js';
import type { StateSlot } from './sequence-states.js';

/** The memory that a sequence of this plan needs, found without any weights: the parts are built on weights of zeros. */
export const plannedStates = (
  plan: ModelPlan,
  slots: readonly PlannedSlot[],
  parts: Parts,
  ops: Ops,
): readonly StateSlot[] =>
  new Model({ plan, slots, weights: zeroWeights(slots), parts, ops: withoutMatrices(ops), quant: null }).stateSlots;

/** Matrices are not made: only their shape is there. Vectors are, since a part may read one while it is built. */
const withoutMatrices = (ops: Ops): Ops =>
  new Proxy(ops, {
    get(target, name) {
      if (name === 'matrix') return shapeOnly;
      if (name === 'stack') return stackShapeOnly;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });

const shapeOnly = ({ shape: [rows = 0, cols = 0] }: WeightData): Matrix =>
  ({ rows, cols, precision: 'f32' }) as unknown as Matrix;

const stackShapeOnly = ({ shape: [count = 0, rows = 0, cols = 0] }: WeightData): MatrixStack =>
  ({ count, rows, cols, precision: 'f32' }) as unknown as MatrixStack;

const zeroWeights = (slots: readonly PlannedSlot[]): BoundWeights => {
  const bySlot = new Map(slots.map((slot) => [slot.name, slot]));
  return {
    has: (name) => bySlot.has(name),
    sourceOf: (name) => name,
    read: (name) => {
      const slot = bySlot.get(name);
      if (!slot) throw new Error(`the weight ${name} was not declared as a slot`);
      const small = slot.role === 'exact' || slot.role === 'integers';
      const elements = slot.shape.reduce((product, size) => product * size, 1);
      return {
        dtype: slot.role === 'integers' ? 'I32' : 'F32',
        shape: slot.shape,
        bytes: new Uint8Array(small ? elements * 4 : 0),
      };
    },
  };
};
