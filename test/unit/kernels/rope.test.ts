import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ops, RopeAngles, RopeRotation } from '@kvad/core';
import { expectClose, hostFloats, MOST_RUNS, newOps, numbers, windowed } from './numbers.js';

const anglesOf = (ops: Ops, values: Float32Array, rows: number, dims: number): RopeAngles => ({
  cos: ops.upload(values.map(Math.cos), rows, dims / 2),
  sin: windowed(ops, values.map(Math.sin), rows, dims / 2),
  dims,
});

/** Each pair is a complex number that is multiplied with e^{iφ}. */
const longhand = (x: Float32Array, angles: Float32Array, dims: number, options: RopeRotation): Float32Array => {
  const { heads, headDim, from, layout, inverse } = options;
  const out = x.slice();
  const cols = heads * headDim;
  for (let r = 0; r * cols < x.length; r++) {
    for (let head = 0; head < heads; head++) {
      for (let i = 0; i < dims / 2; i++) {
        const column = (at: number): number => r * cols + head * headDim + from + at;
        const [re, im] = layout === 'half' ? [column(i), column(i + dims / 2)] : [column(2 * i), column(2 * i + 1)];
        const angle = (inverse ? -1 : 1) * angles[(r * dims) / 2 + i]!;
        out[re] = x[re]! * Math.cos(angle) - x[im]! * Math.sin(angle);
        out[im] = x[re]! * Math.sin(angle) + x[im]! * Math.cos(angle);
      }
    }
  }
  return out;
};

const choice = fc.record({
  seed: fc.nat(),
  rows: fc.integer({ min: 1, max: 5 }),
  heads: fc.integer({ min: 1, max: 4 }),
  pairs: fc.integer({ min: 1, max: 5 }),
  still: fc.integer({ min: 0, max: 5 }),
  last: fc.boolean(),
  layout: fc.constantFrom('half' as const, 'interleaved' as const),
  inverse: fc.boolean(),
});

describe('rope', () => {
  it('turns the chosen pairs of each head, and leaves the other columns', () => {
    fc.assert(
      fc.property(choice, ({ seed, rows, heads, pairs, still, last, layout, inverse }) => {
        const ops = newOps();
        const dims = 2 * pairs;
        const options = { heads, headDim: dims + still, from: last ? still : 0, layout, inverse };
        const values = numbers(seed, rows * heads * options.headDim);
        const angles = numbers(seed + 1, rows * pairs).map((u) => 3 * u);
        const x = windowed(ops, values, rows, heads * options.headDim);
        ops.rope(x, anglesOf(ops, angles, rows, dims), options);
        expectClose(hostFloats(ops, x), longhand(values, angles, dims, options), 1e-6);
      }),
      MOST_RUNS,
    );
  });

  it('turned back gives what was there', () => {
    const ops = newOps();
    const options = { heads: 3, headDim: 8, from: 2, layout: 'half', inverse: false } as const;
    const x = ops.upload(numbers(1, 48), 2, 24);
    const angles = anglesOf(ops, numbers(2, 6), 2, 6);
    ops.rope(x, angles, options);
    expect(ops.host(x)).not.toEqual(numbers(1, 48));
    ops.rope(x, angles, { ...options, inverse: true });
    expectClose(hostFloats(ops, x), numbers(1, 48), 1e-6);
  });

  it('turns a quarter as one would draw it', () => {
    const ops = newOps();
    const quarter = anglesOf(ops, Float32Array.of(Math.PI / 2, 0), 1, 4);
    const half = ops.upload(Float32Array.of(1, 2, 3, 4), 1, 4);
    ops.rope(half, quarter, { heads: 1, headDim: 4, from: 0, layout: 'half', inverse: false });
    expectClose(hostFloats(ops, half), [-3, 2, 1, 4], 1e-6);
    const interleaved = ops.upload(Float32Array.of(1, 2, 3, 4), 1, 4);
    ops.rope(interleaved, quarter, { heads: 1, headDim: 4, from: 0, layout: 'interleaved', inverse: false });
    expectClose(hostFloats(ops, interleaved), [-2, 1, 3, 4], 1e-6);
  });

  it('refuses shapes that do not fit', () => {
    const ops = newOps();
    const options = { heads: 2, headDim: 4, from: 0, layout: 'half', inverse: false } as const;
    const angles = anglesOf(ops, new Float32Array(4), 2, 4);
    expect(() => ops.rope(ops.tensor(2, 6), angles, options)).toThrow('x [2, 6], heads 2, headDim 4');
    expect(() => ops.rope(ops.tensor(3, 8), angles, options)).toThrow('cos [2, 2]');
    expect(() => ops.rope(ops.tensor(2, 8), angles, { ...options, from: 1 })).toThrow('from 1, dims 4, headDim 4');
  });
});
