import { afterAll, describe, expect, it } from 'vitest';
import type { Ops, WeightData } from '@kvad/core';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { createNativeOps } from '../../../core/dist/kernels/native/index.js';

/** Half a step of f32 at 1. */
const ROUNDING = 2 ** -24;

const available = loadAddon()?.available.split(',') ?? [];
const made: Ops[] = [];
const native = (kernels: string): Ops => {
  const ops = createNativeOps({ threads: 2, kernels, kvCacheDtype: 'f32', dequantise: false })!;
  made.push(ops);
  return ops;
};
afterAll(() => {
  for (const ops of made) ops.dispose();
});

/** Values between -1 and 1 with all the digits of f32. */
const numbers = (seed: number) => {
  let state = seed >>> 0;
  const next = (): number => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 31 - 1;
  return (count: number): Float32Array => Float32Array.from({ length: count }, next);
};
const weight = (values: Float32Array, ...shape: number[]): WeightData => ({
  dtype: 'F32',
  shape,
  bytes: new Uint8Array(values.buffer),
});

describe.each(available)('digits that %s kernels keep', (kernels) => {
  const ops = native(kernels);

  // A sum that goes on over the whole width has 0.46 of a rounding of Σ|x w| at every width; one of pieces has less the
  // wider it is.
  it.each([
    { rows: 1, cols: 4096, most: 0.15 },
    { rows: 13, cols: 4096, most: 0.2 },
    { rows: 13, cols: 14336, most: 0.15 },
  ])('products of $rows rows of $cols columns', ({ rows, cols, most }) => {
    const out = 40;
    const random = numbers(rows + cols);
    const [x, w] = [random(rows * cols), random(out * cols)];
    const mark = ops.mark();
    const y = ops.tensor(rows, out);
    ops.linear(ops.upload(x, rows, cols), ops.matrix(weight(w, out, cols), null), y, { bias: null });
    const got = ops.host(y);
    let squares = 0;
    for (let r = 0; r < rows; r++)
      for (let o = 0; o < out; o++) {
        let [sum, size] = [0, 0];
        for (let c = 0; c < cols; c++) {
          const product = x[r * cols + c]! * w[o * cols + c]!;
          sum += product;
          size += Math.abs(product);
        }
        squares += ((got[r * out + o]! - sum) / size) ** 2;
      }
    ops.release(mark);
    expect(Math.sqrt(squares / (rows * out)) / ROUNDING).toBeLessThan(most);
  });
});
