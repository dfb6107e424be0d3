import type { WeightData } from '../kernels/tensor.js';
import { elementBytes, type ReadableDtype } from './dtypes.js';
import { elementCount } from './shape.js';

/** A tensor whose shape is known and whose bytes are made when they are asked for. */
export interface LazyTensor {
  readonly dtype: ReadableDtype;
  readonly shape: readonly number[];
  /** Row-major, little endian. May share memory with the file or other tensors: not to be written into. */
  bytes(): Uint8Array;
}

export const lazy = (dtype: ReadableDtype, shape: readonly number[], bytes: () => Uint8Array): LazyTensor => ({
  dtype,
  shape,
  bytes,
});

/** Bytes of the whole tensor. */
export const byteLength = (tensor: LazyTensor): number => elementCount(tensor.shape) * elementBytes(tensor.dtype);

export const materialise = (tensor: LazyTensor): WeightData => ({
  dtype: tensor.dtype,
  shape: tensor.shape,
  bytes: tensor.bytes(),
});

type Elements = Uint16Array | Uint32Array | BigUint64Array;

/** Bytes as whole elements, whatever they mean; a copy only where they are not aligned. */
export const elementsOf = (bytes: Uint8Array, dtype: ReadableDtype): Elements => {
  const size = elementBytes(dtype);
  const aligned = bytes.byteOffset % size === 0 ? bytes : bytes.slice();
  const { buffer, byteOffset } = aligned;
  const length = aligned.byteLength / size;
  if (size === 2) return new Uint16Array(buffer, byteOffset, length);
  if (size === 4) return new Uint32Array(buffer, byteOffset, length);
  return new BigUint64Array(buffer, byteOffset, length);
};
