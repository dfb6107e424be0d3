import { describe, expect, it } from 'vitest';
import { f32ToBf16, f32ToF16, roundToBf16, roundToF16, type Matrix, type Precision, type WeightData } from '@kvad/core';
import { bytesOf, newOps, numbers } from './numbers.js';

/** The rows of a matrix as the ops hold them. */
const held = (data: WeightData, precision: Precision | null): { matrix: Matrix; values: Float32Array } => {
  const ops = newOps();
  const matrix = ops.matrix(data, precision);
  const { rows, cols } = matrix;
  const out = ops.tensor(rows, cols);
  const ids = ops.upload(
    Int32Array.from({ length: rows }, (_, i) => i),
    rows,
    1,
  );
  ops.embed(matrix, ids, out, { scale: 1, offset: 0, add: false });
  return { matrix, values: (ops.host(out) as Float32Array).slice() };
};

const floats = numbers(5, 15);
const stored = (dtype: 'F32' | 'F16' | 'BF16'): WeightData => ({
  dtype,
  shape: [3, 5],
  bytes:
    dtype === 'F32'
      ? bytesOf(floats)
      : new Uint8Array(Uint16Array.from(floats, dtype === 'F16' ? f32ToF16 : f32ToBf16).buffer),
});

describe('matrices', () => {
  it.each([
    ['F32', 'f32', (x: number) => x],
    ['F16', 'f16', roundToF16],
    ['BF16', 'bf16', roundToBf16],
  ] as const)('%s as stored is %s, exactly', (dtype, precision, round) => {
    const { matrix, values } = held(stored(dtype), null);
    expect(matrix.precision).toBe(precision);
    expect(values).toEqual(floats.map(round));
  });

  it.each(['F16', 'BF16'] as const)('%s widens to f32 without change', (dtype) => {
    const { matrix, values } = held(stored(dtype), 'f32');
    expect(matrix.precision).toBe('f32');
    expect(values).toEqual(held(stored(dtype), null).values);
  });

  it.each([
    ['bf16', roundToBf16],
    ['f16', roundToF16],
  ] as const)('F32 asked for as %s is rounded to the nearest', (precision, round) => {
    const { matrix, values } = held(stored('F32'), precision);
    expect(matrix.precision).toBe(precision);
    expect(values).toEqual(floats.map(round));
    expect(values).not.toEqual(floats);
  });

  it('F16 asked for as bf16 is rounded once more', () => {
    expect(held(stored('F16'), 'bf16').values).toEqual(floats.map((x) => roundToBf16(roundToF16(x))));
  });

  it.each(['q8', 'q4'] as const)('%s is refused by name', (precision) => {
    expect(() => newOps().matrix(stored('F32'), precision)).toThrow(
      expect.objectContaining({
        code: 'KVAD_E_QUANT_UNSUPPORTED',
        message: expect.stringContaining(precision) as string,
      }),
    );
  });

  it('f16 refuses a weight that it cannot hold', () => {
    const large = { dtype: 'F32', shape: [1, 2], bytes: bytesOf(Float32Array.of(1, 70000)) } as const;
    expect(() => newOps().matrix(large, 'f16')).toThrow(
      expect.objectContaining({ code: 'KVAD_E_F16_RANGE', message: 'f16 cannot hold the weight 70000' }),
    );
    expect(held({ ...large, bytes: bytesOf(Float32Array.of(1, Infinity)) }, 'f16').values[1]).toBe(Infinity);
  });

  it('reads bytes that are not aligned', () => {
    const shifted = new Uint8Array(61);
    shifted.set(bytesOf(floats), 1);
    expect(held({ dtype: 'F32', shape: [3, 5], bytes: shifted.subarray(1) }, null).values).toEqual(floats);
  });

  it('refuses other ranks, other counts and integers', () => {
    const ops = newOps();
    expect(() => ops.matrix({ ...stored('F32'), shape: [15] }, null)).toThrow('[15]');
    expect(() => ops.matrix({ ...stored('F32'), shape: [3, 1, 5] }, null)).toThrow('[3, 1, 5]');
    expect(() => ops.matrix({ ...stored('F32'), shape: [3, 4] }, null)).toThrow('15 values for shape [3, 4]');
    expect(() => ops.vector({ dtype: 'I32', shape: [1], bytes: new Uint8Array(4) })).toThrow('I32');
  });
});

describe('vectors', () => {
  it('are flat, whatever their rank', () => {
    const ops = newOps();
    expect(ops.vector(stored('BF16')).length).toBe(15);
    expect(ops.vector({ dtype: 'F32', shape: [], bytes: bytesOf(Float32Array.of(3)) }).length).toBe(1);
  });

  it('made by a part are copied', () => {
    const ops = newOps();
    const values = Float32Array.of(2, 3);
    const vector = ops.constant(values);
    values.fill(0);
    const x = ops.upload(Float32Array.of(1, 1), 1, 2);
    ops.affine(x, x, { scale: vector, bias: null });
    expect(ops.host(x)).toEqual(Float32Array.of(2, 3));
  });
});
