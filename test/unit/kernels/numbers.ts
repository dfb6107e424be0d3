import { expect } from 'vitest';
import { createReferenceOps, type Matrix, type Ops, type Tensor } from '@kvad/core';

/** The same numbers for the same seed: xorshift on 32 bits, values in [-1, 1). */
export const numbers = (seed: number, count: number): Float32Array => {
  let state = (seed ^ 0x9e3779b9) | 1;
  return Float32Array.from({ length: count }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 31 - 1;
  });
};

/** Every element within `tolerance` of what is expected; NaN only where NaN is expected. */
export const expectClose = (
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance: number,
  about = 'values',
): void => {
  expect(actual.length, `${about}: count`).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) {
    const same = Object.is(actual[i], expected[i]) || Math.abs(actual[i]! - expected[i]!) <= tolerance;
    if (!same) throw new Error(`${about}[${i}] is ${actual[i]}, expected ${expected[i]} within ${tolerance}`);
  }
};

/** Relative tolerance of a result that was summed in float64 and rounded to float32 once. */
export const ROUNDED_ONCE = 2 ** -23;

export const newOps = (kvCacheDtype: 'f16' | 'f32' = 'f32'): Ops => createReferenceOps({ kvCacheDtype });

export const bytesOf = (values: Float32Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

export const matrixOf = (ops: Ops, values: Float32Array, rows: number, cols: number): Matrix =>
  ops.matrix({ dtype: 'F32', shape: [rows, cols], bytes: bytesOf(values) }, null);

/** A tensor that is a window of a wider one with other values around it. */
export const windowed = (ops: Ops, values: Float32Array, rows: number, cols: number): Tensor => {
  const wide = ops.upload(new Float32Array((rows + 2) * (cols + 5)).fill(77), rows + 2, cols + 5);
  const window = ops.columns(ops.rows(wide, 1, rows), 3, cols);
  ops.write(window, values);
  return window;
};

export const hostFloats = (ops: Ops, x: Tensor): Float32Array => ops.host(x) as Float32Array;

/** `seed`, and sizes that are often odd. */
export const MOST_RUNS = { numRuns: 60 } as const;
