import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { Ops, WeightData } from '@kvad/core';
import { roundToF16 } from '@kvad/core';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { createNativeOps } from '../../../core/dist/kernels/native/index.js';

const BLOCK = 32;
const available = loadAddon()?.available.split(',') ?? [];
const made: Ops[] = [];
const native = (kernels: string, threads: number, dequantise = false): Ops => {
  const ops = createNativeOps({ threads, kernels, kvCacheDtype: 'f32', dequantise })!;
  made.push(ops);
  return ops;
};
afterAll(() => {
  for (const ops of made) ops.dispose();
});

const numbers = (seed: number) => {
  let state = seed >>> 0;
  return (count: number, scale = 1): Float32Array =>
    Float32Array.from({ length: count }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return ((state >>> 8) / 2 ** 23 - 1) * scale;
    });
};

/** Halves go to the even neighbour. */
const roundEven = (x: number): number => {
  const down = Math.floor(x);
  if (x - down !== 0.5) return Math.round(x);
  return down % 2 === 0 ? down : down + 1;
};
const clamp = (x: number, low: number, high: number): number => Math.min(high, Math.max(low, x));
const blocksOf = (row: Float32Array): Float32Array[] =>
  Array.from({ length: Math.ceil(row.length / BLOCK) }, (_, b) => row.subarray(b * BLOCK, (b + 1) * BLOCK));
const top = (block: Float32Array): number => block.reduce((most, v) => Math.max(most, Math.abs(v)), 0);

interface Codes {
  readonly scale: number;
  readonly codes: readonly number[];
}

/** The rules of core/native/src/quantise.cpp and body.h, written out. */
const quantise = {
  q8: (block: Float32Array): Codes => {
    const scale = roundToF16(Math.fround(top(block) / 127));
    const codes = [...block].map((v) => (scale > 0 ? clamp(roundEven(Math.fround(v / scale)), -127, 127) : 0));
    return { scale, codes };
  },
  q4: (block: Float32Array): Codes => {
    const extreme = block.reduce((most, v) => (Math.abs(v) > Math.abs(most) ? v : most), 0);
    const scale = roundToF16(Math.fround(extreme / -8));
    const code = (v: number): number => Math.floor(Math.fround(Math.fround(v / scale) + 8.5));
    return { scale, codes: [...block].map((v) => (scale === 0 ? 0 : clamp(code(v), 0, 15) - 8)) };
  },
  activations: (block: Float32Array): Codes => {
    const most = top(block);
    const inverse = most > 0 ? Math.fround(127 / most) : 0;
    const codes = [...block].map((v) => roundEven(Math.fround(v * inverse)));
    return { scale: Math.fround(most / 127), codes };
  },
} as const;

interface Product {
  readonly value: number;
  /** How far rounding may take a sum in float32 from `value`. */
  readonly bound: number;
}

/**
 * A sum of n terms in float32, in whatever order, with up to two roundings in each, is off by at most (n + 2) 2^-24 times
 * the sum of their magnitudes, however small they leave the result. A term is a block where both sides are codes, whose
 * products are added as whole numbers; one product where the activations are floats.
 */
const product = (x: readonly Codes[], w: readonly Codes[], terms: 'blocks' | 'products'): Product => {
  const added = x.flatMap(({ scale, codes }, b) => {
    const products = codes.map((code, i) => code * w[b]!.codes[i]!);
    const kept = terms === 'blocks' ? [products.reduce((sum, one) => sum + one, 0)] : products;
    return kept.map((one) => one * scale * w[b]!.scale);
  });
  const magnitude = added.reduce((sum, one) => sum + Math.abs(one), 0);
  return { value: added.reduce((sum, one) => sum + one, 0), bound: (added.length + 2) * 2 ** -24 * magnitude };
};

const stored = (values: Float32Array, ...shape: number[]): WeightData => ({
  dtype: 'F32',
  shape,
  bytes: new Uint8Array(values.buffer),
});

const run = (ops: Ops, x: Float32Array, w: Float32Array, out: number, cols: number, precision: 'q8' | 'q4') => {
  const rows = x.length / cols;
  const mark = ops.mark();
  const y = ops.tensor(rows, out);
  ops.linear(ops.upload(x, rows, cols), ops.matrix(stored(w, out, cols), precision), y, { bias: null });
  const values = Float32Array.from(ops.host(y));
  ops.release(mark);
  return values;
};

const rowsOf = (values: Float32Array, cols: number): Float32Array[] =>
  Array.from({ length: values.length / cols }, (_, r) => values.subarray(r * cols, (r + 1) * cols));

const expectProducts = (got: Float32Array, expected: readonly Product[]): void => {
  expect(got.length).toBe(expected.length);
  expected.forEach(({ value, bound }, i) => {
    if (!(Math.abs(got[i]! - value) <= bound)) expect.fail(`product ${i}: ${got[i]} for ${value}, within ${bound}`);
  });
};

const size = (max: number) => fc.integer({ min: 1, max });
const shapes = [size(2 ** 31), size(9), size(40), size(150)] as const;

describe.each(available)('quantised products of the %s kernels', (kernels) => {
  const ops = fc.constantFrom(...[1, 2, 4].map((threads) => native(kernels, threads)));
  const control = fc.constantFrom(...[1, 3].map((threads) => native(kernels, threads, true)));
  const precision = fc.constantFrom('q8' as const, 'q4' as const);

  it('are those of weights and activations quantised longhand by the same rules', () => {
    fc.assert(
      fc.property(ops, precision, ...shapes, (o, p, seed, rows, out, cols) => {
        const random = numbers(seed);
        const [x, w] = [random(rows * cols, 3), random(out * cols, 0.1)];
        const xs = rowsOf(x, cols).map((row) => blocksOf(row).map(quantise.activations));
        const ws = rowsOf(w, cols).map((row) => blocksOf(row).map(quantise[p]));
        const expected = xs.flatMap((row) => ws.map((weights) => product(row, weights, 'blocks')));
        expectProducts(run(o, x, w, out, cols, p), expected);
      }),
      { numRuns: 60 },
    );
  });

  it('with KVAD_DEQUANT are those of quantised weights and the activations as they are', () => {
    fc.assert(
      fc.property(control, precision, ...shapes, (o, p, seed, rows, out, cols) => {
        const random = numbers(seed);
        const [x, w] = [random(rows * cols, 3), random(out * cols, 0.1)];
        const exact = (block: Float32Array): Codes => ({ scale: 1, codes: [...block] });
        const xs = rowsOf(x, cols).map((row) => blocksOf(row).map(exact));
        const ws = rowsOf(w, cols).map((row) => blocksOf(row).map(quantise[p]));
        const expected = xs.flatMap((row) => ws.map((weights) => product(row, weights, 'products')));
        expectProducts(run(o, x, w, out, cols, p), expected);
      }),
      { numRuns: 40 },
    );
  });

  it('of blocks of zeros are zero', () => {
    const o = native(kernels, 1);
    for (const p of ['q8', 'q4'] as const) {
      expect([...run(o, new Float32Array(64), new Float32Array(3 * 64), 3, 64, p)]).toEqual([0, 0, 0]);
    }
  });

  it('of activations that are not numbers are none, and those of other rows are as they were', () => {
    const random = numbers(5);
    const [x, w] = [random(9 * 70), random(20 * 70)];
    for (const p of ['q8', 'q4'] as const) {
      for (const rows of [1, 9]) {
        const o = native(kernels, 2);
        const clean = run(o, x.slice(0, rows * 70), w, 20, 70, p);
        for (const value of [NaN, Infinity]) {
          const dirty = Float32Array.from(x.slice(0, rows * 70));
          dirty[(rows - 1) * 70 + 40] = value;
          const got = run(o, dirty, w, 20, 70, p);
          expect(got.subarray(0, (rows - 1) * 20)).toEqual(clean.subarray(0, (rows - 1) * 20));
          expect([...got.subarray((rows - 1) * 20)].every(Number.isNaN)).toBe(true);
        }
      }
    }
  });

  it('of activations near the least number are zero', () => {
    const x = new Float32Array(64).fill(1e-40);
    expect([...run(native(kernels, 1), x, new Float32Array(64).fill(1), 1, 64, 'q8')]).toEqual([0]);
  });

  it('refuse values whose scale float16 does not hold', () => {
    const o = native(kernels, 1);
    const huge = stored(new Float32Array(32).fill(1e9), 1, 32);
    expect(() => o.matrix(huge, 'q8')).toThrow(expect.objectContaining({ code: 'KVAD_E_QUANT_RANGE' }));
  });

  it.each(['q8', 'q4'] as const)('refuse values that are not numbers, as %s', (precision) => {
    const o = native(kernels, 1);
    for (const value of [NaN, Infinity, -Infinity]) {
      for (const place of [0, 17, 33]) {
        const values = Float32Array.from({ length: 40 }, (_, i) => (i === place ? value : 1));
        const act = () => o.matrix(stored(values, 1, 40), precision);
        expect(act).toThrow(expect.objectContaining({ code: 'KVAD_E_QUANT_RANGE' }));
      }
    }
  });
});
