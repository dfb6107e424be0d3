import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ops } from '@kvad/core';
import { expectClose, hostFloats, MOST_RUNS, newOps, numbers, windowed } from './numbers.js';

type Kind = 'rms' | 'layer';
interface Choice {
  readonly kind: Kind;
  readonly size: number;
  readonly eps: number;
  readonly offset: 0 | 1;
  readonly weight: Float32Array | null;
  readonly bias: Float32Array | null;
}

/** The definitions, one group at a time, in float64. `weight` and `bias` of [size] or of [cols]. */
const longhand = (x: Float32Array, cols: number, { kind, size, eps, offset, weight, bias }: Choice): number[] =>
  Array.from(x, (value, at) => {
    const column = at % cols;
    const group = Array.from(x.subarray(at - (column % size), at - (column % size) + size));
    const mean = kind === 'rms' ? 0 : group.reduce((sum, v) => sum + v, 0) / size;
    const variance = group.reduce((sum, v) => sum + (v - mean) ** 2, 0) / size;
    const of = (vector: Float32Array): number => vector[vector.length === cols ? column : column % size]!;
    return (
      ((value - mean) / Math.sqrt(variance + eps)) * (weight === null ? 1 : of(weight) + offset) +
      (bias === null ? 0 : of(bias))
    );
  });

const run = (ops: Ops, x: Float32Array, rows: number, cols: number, choice: Choice, inPlace: boolean): Float32Array => {
  const input = windowed(ops, x, rows, cols);
  const out = inPlace ? input : windowed(ops, new Float32Array(rows * cols), rows, cols);
  const { kind, size, eps, offset } = choice;
  const weight = choice.weight === null ? null : ops.constant(choice.weight);
  const bias = choice.bias === null ? null : ops.constant(choice.bias);
  if (kind === 'rms') ops.rmsNorm(input, out, { size, eps, offset, weight });
  else ops.layerNorm(input, out, { size, eps, offset, weight, bias });
  return hostFloats(ops, out);
};

describe.each(['rms', 'layer'] as const)('%s norm', (kind) => {
  it('is its definition for any groups, weights and biases, in place and apart', () => {
    const length = fc.constantFrom('none', 'size', 'cols');
    const sizes = { rows: fc.integer({ min: 1, max: 5 }), size: fc.integer({ min: 1, max: 17 }) };
    fc.assert(
      fc.property(
        fc.record({ ...sizes, groups: fc.integer({ min: 1, max: 4 }), seed: fc.nat(), weight: length, bias: length }),
        fc.constantFrom(0 as const, 1 as const),
        fc.boolean(),
        ({ rows, size, groups, seed, ...lengths }, offset, inPlace) => {
          const cols = size * groups;
          const vector = (choice: string, from: number): Float32Array | null =>
            choice === 'none' ? null : numbers(from, choice === 'size' ? size : cols);
          const choice: Choice = {
            kind,
            size,
            eps: 1e-3,
            offset,
            weight: vector(lengths.weight, seed + 1),
            bias: kind === 'rms' ? null : vector(lengths.bias, seed + 2),
          };
          const x = numbers(seed, rows * cols);
          expectClose(run(newOps(), x, rows, cols, choice, inPlace), longhand(x, cols, choice), 1e-5);
        },
      ),
      MOST_RUNS,
    );
  });

  it('keeps small differences on a large mean', () => {
    const choice: Choice = { kind, size: 4, eps: 0, offset: 0, weight: null, bias: null };
    const x = Float32Array.of(4096, 4097, 4098, 4099);
    expectClose(run(newOps(), x, 1, 4, choice, false), longhand(x, 4, choice), 1e-6);
  });

  it('of a row of zeros is the bias, not NaN', () => {
    const bias = kind === 'rms' ? null : Float32Array.of(1, 2);
    const choice: Choice = { kind, size: 2, eps: 1e-6, offset: 1, weight: Float32Array.of(3, 4), bias };
    expectClose(run(newOps(), new Float32Array(2), 1, 2, choice, false), bias ?? [0, 0], 0);
  });

  it('refuses sizes and vectors that do not fit', () => {
    const ops = newOps();
    const x = ops.tensor(2, 6);
    const norm = (size: number, count: number, out = x): void => {
      const weight = ops.constant(new Float32Array(count));
      if (kind === 'rms') ops.rmsNorm(x, out, { size, eps: 0, offset: 0, weight });
      else ops.layerNorm(x, out, { size, eps: 0, offset: 0, weight: null, bias: weight });
    };
    expect(() => norm(4, 4)).toThrow('x [2, 6], size 4');
    expect(() => norm(3, 4)).toThrow('has 4 values, [3] or [6] is needed');
    expect(() => norm(3, 3, ops.tensor(2, 5))).toThrow('x [2, 6], out [2, 5]');
    const wide = ops.tensor(2, 9);
    expect(() =>
      ops.rmsNorm(ops.columns(wide, 0, 6), ops.columns(wide, 1, 6), { size: 6, eps: 0, offset: 0, weight: null }),
    ).toThrow('overlaps');
  });
});
