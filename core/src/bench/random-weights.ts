import type { ModelPlan } from '@kvad/schemas';
import type { BoundWeights } from '../checkpoint/checkpoint.js';
import { f32ToBf16 } from '../kernels/half.js';
import type { Ops } from '../kernels/ops.js';
import type { WeightData } from '../kernels/tensor.js';
import type { PlannedSlot } from '../plan/planned-slot.js';
import type { QuantisedWeights } from '../runtime/quantised-weights.js';
import type { BenchPrecision } from './variants.js';

/** Rows of the group that quantised layouts interleave: what is tiled is a whole number of them. */
const GROUP_ROWS = 16;
/** Values that are really drawn; larger tensors repeat them. A prime, so that rows differ. */
const DRAWN = 1_048_573;
/** Spread of matrices: small enough that activations stay finite through a hundred layers. */
const SPREAD = 0.02;

/**
 * Weights of the shapes of a plan, for measuring speed: the same numbers each time, and large matrices made by copying a
 * small random block, so that a billion of them take a second. Vectors are near 1, as norms are.
 */
export const randomWeights = (
  plan: ModelPlan,
  slots: readonly PlannedSlot[],
  precision: BenchPrecision,
): BoundWeights => {
  const byName = new Map(slots.map((slot) => [slot.name, slot]));
  const values = drawn();
  const stored = precision === 'f32' ? bytesOf(values) : bytesOf(Uint16Array.from(values, f32ToBf16));
  return {
    has: (name) => byName.has(name),
    read: (name) => {
      const { shape, role } = byName.get(name)!;
      const elements = product(shape);
      if (role === 'integers') return { dtype: 'I32', shape, bytes: new Uint8Array(4 * elements) };
      if (role === 'exact') return { dtype: 'F32', shape, bytes: bytesOf(exactValues(values, shape)) };
      const size = precision === 'f32' ? 4 : 2;
      return { dtype: size === 4 ? 'F32' : 'BF16', shape, bytes: repeated(stored, elements * size) };
    },
    sourceOf: (name) => (name === 'head.weight' && plan.head.tied ? 'embedding.tokens.weight' : name),
  };
};

/** Matrices in the layout of the ops: one group of rows is packed, and its bytes are repeated. */
export const randomQuantised = (slots: readonly PlannedSlot[], ops: Ops): QuantisedWeights => {
  const byName = new Map(slots.map((slot) => [slot.name, slot]));
  const values = drawn();
  return {
    works: false,
    take: (key, precision) => {
      const { shape } = byName.get(key)!;
      const [rows = 1, columns = 1] = shape.slice(-2);
      const block = Float32Array.from({ length: GROUP_ROWS * columns }, (_, i) => values[i % DRAWN]!);
      const group = ops.pack({ dtype: 'F32', shape: [GROUP_ROWS, columns], bytes: bytesOf(block) }, precision);
      const groups = (product(shape) / rows / columns) * Math.ceil(rows / GROUP_ROWS);
      return { dtype: group.dtype, shape, bytes: repeated(group.bytes, groups * group.bytes.byteLength) };
    },
    finish: () => [],
    abandon: () => undefined,
  };
};

/** Numbers in (-SPREAD, SPREAD) of a linear congruential generator. */
const drawn = (): Float32Array => {
  let state = 20240501;
  return Float32Array.from({ length: DRAWN }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return ((state >>> 8) / 2 ** 23 - 1) * SPREAD;
  });
};

const exactValues = (values: Float32Array, shape: readonly number[]): Float32Array =>
  Float32Array.from({ length: product(shape) }, (_, i) => (shape.length === 1 ? 1 : 0) + values[i % DRAWN]!);

/** `pattern` again and again, up to a length. */
const repeated = (pattern: Uint8Array, length: number): Uint8Array => {
  const bytes = new Uint8Array(new ArrayBuffer(length));
  bytes.set(pattern.subarray(0, Math.min(length, pattern.byteLength)));
  for (let done = pattern.byteLength; done < length; done *= 2)
    bytes.copyWithin(done, 0, Math.min(done, length - done));
  return bytes;
};

const bytesOf = ({ buffer, byteOffset, byteLength }: WeightData['bytes'] | Float32Array | Uint16Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

const product = (shape: readonly number[]): number => shape.reduce((all, size) => all * size, 1);
