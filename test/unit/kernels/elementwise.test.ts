import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ops, Tensor } from '@kvad/core';
import { expectClose, hostFloats, MOST_RUNS, newOps, numbers, windowed } from './numbers.js';

/** One input and what becomes of it, element by element. */
interface Case {
  readonly name: string;
  run(ops: Ops, x: Tensor, out: Tensor, cols: number): void;
  expected(value: number, column: number): number;
}

const vector = numbers(100, 32);
const other = numbers(101, 32);
const CASES: readonly Case[] = [
  { name: 'scale', run: (ops, x, out) => ops.scale(x, out, -1.7), expected: (v) => v * -1.7 },
  {
    name: 'clamp',
    run: (ops, x, out) => ops.clamp(x, out, { low: -0.3, high: 0.5 }),
    expected: (v) => (v < -0.3 ? -0.3 : v > 0.5 ? 0.5 : v),
  },
  {
    name: 'clamp from above only',
    run: (ops, x, out) => ops.clamp(x, out, { low: null, high: 0.1 }),
    expected: (v) => (v > 0.1 ? 0.1 : v),
  },
  {
    name: 'clamp from below only',
    run: (ops, x, out) => ops.clamp(x, out, { low: 0.1, high: null }),
    expected: (v) => (v < 0.1 ? 0.1 : v),
  },
  { name: 'softcap', run: (ops, x, out) => ops.softcap(x, out, 0.6), expected: (v) => 0.6 * Math.tanh(v / 0.6) },
  {
    name: 'affine',
    run: (ops, x, out, cols) =>
      ops.affine(x, out, {
        scale: ops.constant(vector.subarray(0, cols)),
        bias: ops.constant(other.subarray(0, cols)),
      }),
    expected: (v, column) => v * vector[column]! + other[column]!,
  },
  {
    name: 'affine without bias',
    run: (ops, x, out, cols) => ops.affine(x, out, { scale: ops.constant(vector.subarray(0, cols)), bias: null }),
    expected: (v, column) => v * vector[column]!,
  },
  {
    name: 'affine without scale',
    run: (ops, x, out, cols) => ops.affine(x, out, { scale: null, bias: ops.constant(other.subarray(0, cols)) }),
    expected: (v, column) => v + other[column]!,
  },
];

const sizes = { rows: fc.integer({ min: 1, max: 6 }), cols: fc.integer({ min: 1, max: 19 }) };

describe.each(CASES)('$name', ({ run, expected }) => {
  it('is its definition, in place and apart', () => {
    fc.assert(
      fc.property(fc.record({ ...sizes, seed: fc.nat(), inPlace: fc.boolean() }), ({ rows, cols, seed, inPlace }) => {
        const ops = newOps();
        const values = numbers(seed, rows * cols);
        const x = windowed(ops, values, rows, cols);
        const out = inPlace ? x : windowed(ops, new Float32Array(rows * cols), rows, cols);
        run(ops, x, out, cols);
        expectClose(
          hostFloats(ops, out),
          Array.from(values, (v, i) => expected(v, i % cols)),
          1e-6,
        );
      }),
      MOST_RUNS,
    );
  });

  it('refuses another shape for out', () => {
    const ops = newOps();
    expect(() => run(ops, ops.tensor(2, 3), ops.tensor(3, 2), 3)).toThrow('x [2, 3], out [3, 2]');
  });
});

describe('add', () => {
  it.each([
    [1, 1],
    [0.5, -2],
    [-1, 0.25],
  ])('keeps %d of out and adds %d of x', (keep, scale) => {
    const ops = newOps();
    const out = windowed(ops, numbers(1, 15), 3, 5);
    ops.add(windowed(ops, numbers(2, 15), 3, 5), out, { keep, scale });
    expectClose(
      hostFloats(ops, out),
      Array.from(numbers(1, 15), (v, i) => keep * v + scale * numbers(2, 15)[i]!),
      1e-6,
    );
  });

  it('with keep 0 does not look at what out held', () => {
    const ops = newOps();
    const out = ops.tensor(1, 2);
    ops.add(ops.upload(Float32Array.of(3, -4), 1, 2), out, { keep: 0, scale: 2 });
    expect(ops.host(out)).toEqual(Float32Array.of(6, -8));
  });

  it('may add a tensor to itself', () => {
    const ops = newOps();
    const x = ops.upload(Float32Array.of(3, -4), 1, 2);
    ops.add(x, x, { keep: 1, scale: 1 });
    expect(ops.host(x)).toEqual(Float32Array.of(6, -8));
  });
});

describe('multiply', () => {
  it.each(['apart', 'on x', 'on y'])('multiplies element by element, writing %s', (place) => {
    const ops = newOps();
    const x = windowed(ops, numbers(3, 14), 2, 7);
    const y = windowed(ops, numbers(4, 14), 2, 7);
    const out = { apart: ops.tensor(2, 7), 'on x': x, 'on y': y }[place]!;
    ops.multiply(x, y, out);
    expectClose(
      hostFloats(ops, out),
      Array.from(numbers(3, 14), (v, i) => v * numbers(4, 14)[i]!),
      1e-7,
    );
  });
});

describe('scaleGroups', () => {
  it('gives each group of columns its factor', () => {
    fc.assert(
      fc.property(
        fc.record({
          rows: fc.integer({ min: 1, max: 5 }),
          groups: fc.integer({ min: 1, max: 5 }),
          size: fc.integer({ min: 1, max: 7 }),
          seed: fc.nat(),
          inPlace: fc.boolean(),
        }),
        ({ rows, groups, size, seed, inPlace }) => {
          const ops = newOps();
          const cols = groups * size;
          const x = windowed(ops, numbers(seed, rows * cols), rows, cols);
          const factors = windowed(ops, numbers(seed + 1, rows * groups), rows, groups);
          const out = inPlace ? x : ops.tensor(rows, cols);
          ops.scaleGroups(x, factors, out, { size });
          expectClose(
            hostFloats(ops, out),
            Array.from(
              numbers(seed, rows * cols),
              (v, i) => v * numbers(seed + 1, rows * groups)[Math.floor(i / size)]!,
            ),
            1e-7,
          );
        },
      ),
      MOST_RUNS,
    );
  });

  it('refuses factors of another shape', () => {
    const ops = newOps();
    const x = ops.tensor(2, 6);
    expect(() => ops.scaleGroups(x, ops.tensor(2, 3), x, { size: 3 })).toThrow('factors [2, 3], size 3');
    expect(() => ops.scaleGroups(x, ops.tensor(1, 2), x, { size: 3 })).toThrow('factors [1, 2]');
  });
});
