import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectClose, hostFloats, matrixOf, MOST_RUNS, newOps, numbers, ROUNDED_ONCE, windowed } from './numbers.js';

/** out[r, o] = Σ_i x[r, i] W[o, i] + bias[o], in float64. */
const longhand = (
  x: Float32Array,
  w: Float32Array,
  bias: Float32Array | null,
  rows: number,
  inputs: number,
  outputs: number,
): number[] =>
  Array.from({ length: rows * outputs }, (_, at) => {
    const [r, o] = [Math.floor(at / outputs), at % outputs];
    let sum = bias?.[o] ?? 0;
    for (let i = 0; i < inputs; i++) sum += x[r * inputs + i]! * w[o * inputs + i]!;
    return sum;
  });

const size = fc.integer({ min: 1, max: 21 });

describe('linear', () => {
  it('is x Wᵀ + bias for any sizes, between windows of wider tensors', () => {
    fc.assert(
      fc.property(fc.nat(), size, size, size, fc.boolean(), (seed, rows, inputs, outputs, hasBias) => {
        const ops = newOps();
        const x = numbers(seed, rows * inputs);
        const w = numbers(seed + 1, outputs * inputs);
        const bias = hasBias ? numbers(seed + 2, outputs) : null;
        const out = windowed(ops, new Float32Array(rows * outputs), rows, outputs);
        ops.linear(windowed(ops, x, rows, inputs), matrixOf(ops, w, outputs, inputs), out, {
          bias: bias === null ? null : ops.constant(bias),
        });
        expectClose(hostFloats(ops, out), longhand(x, w, bias, rows, inputs, outputs), inputs * ROUNDED_ONCE);
      }),
      MOST_RUNS,
    );
  });

  it('gives a row the same bits alone as among others', () => {
    const ops = newOps();
    const [rows, inputs, outputs] = [7, 33, 18];
    const w = matrixOf(ops, numbers(1, outputs * inputs), outputs, inputs);
    const x = ops.upload(numbers(2, rows * inputs), rows, inputs);
    const together = ops.tensor(rows, outputs);
    ops.linear(x, w, together, { bias: null });
    for (let row = 0; row < rows; row++) {
      const alone = ops.tensor(1, outputs);
      ops.linear(ops.rows(x, row, 1), w, alone, { bias: null });
      expect(ops.host(alone)).toEqual(ops.host(ops.rows(together, row, 1)));
    }
  });

  it('writes nothing outside of its window', () => {
    const ops = newOps();
    const wide = ops.upload(new Float32Array(24).fill(5), 3, 8);
    const x = ops.upload(numbers(3, 6), 3, 2);
    ops.linear(x, matrixOf(ops, numbers(4, 6), 3, 2), ops.columns(wide, 2, 3), { bias: null });
    for (const column of [0, 1, 5, 6, 7]) {
      expect(ops.host(ops.columns(wide, column, 1))).toEqual(new Float32Array(3).fill(5));
    }
  });

  it('may write beside its input in one wider tensor, but not over it', () => {
    const ops = newOps();
    const wide = ops.upload(numbers(5, 18), 3, 6);
    const w = matrixOf(ops, numbers(6, 6), 2, 3);
    const x = ops.columns(wide, 0, 3);
    const input = Float32Array.from(ops.host(x));
    ops.linear(x, w, ops.columns(wide, 4, 2), { bias: null });
    expectClose(ops.host(ops.columns(wide, 4, 2)), longhand(input, numbers(6, 6), null, 3, 3, 2), 1e-6);
    expect(() => ops.linear(x, w, ops.columns(wide, 2, 2), { bias: null })).toThrow('must not share memory');
  });

  it('carries NaN and infinity to the rows that have them only', () => {
    const ops = newOps();
    const x = ops.upload(Float32Array.of(NaN, 1, 1, 1, Infinity, 1), 3, 2);
    const out = ops.tensor(3, 5);
    ops.linear(x, matrixOf(ops, new Float32Array(10).fill(2), 5, 2), out, { bias: null });
    expect(ops.host(out)).toEqual(
      Float32Array.of(
        ...new Array<number>(5).fill(NaN),
        ...new Array<number>(5).fill(4),
        ...new Array<number>(5).fill(Infinity),
      ),
    );
  });

  it('refuses shapes that do not fit, with all of them', () => {
    const ops = newOps();
    const w = matrixOf(ops, numbers(7, 6), 2, 3);
    const bias = ops.constant(new Float32Array(3));
    expect(() => ops.linear(ops.tensor(4, 2), w, ops.tensor(4, 2), { bias: null })).toThrow(
      'x [4, 2], weight [2, 3], out [4, 2]',
    );
    expect(() => ops.linear(ops.tensor(4, 3), w, ops.tensor(3, 2), { bias: null })).toThrow('out [3, 2]');
    expect(() => ops.linear(ops.tensor(4, 3), w, ops.tensor(4, 2), { bias })).toThrow('bias has 3 values, 2');
    expect(() => ops.linear(ops.tensor(4, 3, 'i32'), w, ops.tensor(4, 2), { bias: null })).toThrow('x must be f32');
  });
});

describe('embed', () => {
  const table = numbers(8, 7 * 4);
  const rowsOf = (ids: readonly number[]): number[] =>
    ids.flatMap((id) => Array.from(table.subarray(id * 4, id * 4 + 4)));

  it('takes scaled rows of the table, from an offset', () => {
    const ops = newOps();
    const out = windowed(ops, new Float32Array(12), 3, 4);
    const ids = ops.upload(Int32Array.of(4, 0, 4), 3, 1);
    ops.embed(matrixOf(ops, table, 7, 4), ids, out, { scale: 3, offset: 2, add: false });
    expectClose(
      hostFloats(ops, out),
      rowsOf([6, 2, 6]).map((x) => 3 * x),
      1e-6,
    );
  });

  it('adds to what is there', () => {
    const ops = newOps();
    const out = ops.upload(numbers(9, 8), 2, 4);
    ops.embed(matrixOf(ops, table, 7, 4), ops.upload(Int32Array.of(1, 5), 2, 1), out, {
      scale: 1,
      offset: 0,
      add: true,
    });
    expectClose(
      hostFloats(ops, out),
      rowsOf([1, 5]).map((x, i) => x + numbers(9, 8)[i]!),
      1e-6,
    );
  });

  it.each([
    [7, 0],
    [-1, 0],
    [6, 1],
    [0, -1],
  ])('refuses id %d with offset %d', (id, offset) => {
    const ops = newOps();
    const ids = ops.upload(Int32Array.of(id), 1, 1);
    expect(() =>
      ops.embed(matrixOf(ops, table, 7, 4), ids, ops.tensor(1, 4), { scale: 1, offset, add: false }),
    ).toThrow(`row ${id + offset} of a table of 7 rows`);
  });

  it('refuses other shapes', () => {
    const ops = newOps();
    const ids = ops.upload(Int32Array.of(1, 2), 2, 1);
    const t = matrixOf(ops, table, 7, 4);
    expect(() => ops.embed(t, ids, ops.tensor(2, 5), { scale: 1, offset: 0, add: false })).toThrow('out [2, 5]');
    expect(() => ops.embed(t, ids, ops.tensor(3, 4), { scale: 1, offset: 0, add: false })).toThrow('ids [2, 1]');
    expect(() => ops.embed(t, ops.tensor(2, 1), ops.tensor(2, 4), { scale: 1, offset: 0, add: false })).toThrow('i32');
  });
});
