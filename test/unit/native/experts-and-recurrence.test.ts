import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { Ops, Tensor, WeightData } from '@kvad/core';
import { createReferenceOps } from '../../../core/dist/kernels/reference/index.js';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { createNativeOps } from '../../../core/dist/kernels/native/index.js';

const available = loadAddon()?.available.split(',') ?? [];
const made: Ops[] = [];
const native = (kernels: string, threads: number): Ops => {
  const ops = createNativeOps({ threads, kernels, kvCacheDtype: 'f32', dequantise: false })!;
  made.push(ops);
  return ops;
};
afterAll(() => {
  for (const ops of made) ops.dispose();
});

/** The same numbers for both implementations; with `steps`, on a coarse grid, so that there are ties. */
const numbers = (seed: number, steps = 2 ** 23) => {
  let state = seed >>> 0;
  return (count: number): Float32Array =>
    Float32Array.from({ length: count }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.round(((state >>> 8) / 2 ** 23 - 1) * steps) / steps;
    });
};
const weight = (values: Float32Array, ...shape: number[]): WeightData => ({
  dtype: 'F32',
  shape,
  bytes: new Uint8Array(values.buffer),
});

const run = (ops: Ops, act: (ops: Ops) => readonly Tensor[]): number[] => {
  const mark = ops.mark();
  const result = act(ops).flatMap((x) => [...ops.host(x)]);
  ops.release(mark);
  return result;
};

/** Runs on both; the largest difference over the largest value (NaN fails). */
const agree = (ops: Ops, act: (ops: Ops) => readonly Tensor[], tolerance: number): void => {
  const reference = createReferenceOps({ kvCacheDtype: 'f32' });
  const [got, expected] = [run(ops, act), run(reference, act)];
  reference.dispose();
  const top = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
  expect(got.length).toBe(expected.length);
  for (let i = 0; i < got.length; i++) {
    const apart = Math.abs(got[i]! - expected[i]!) / top;
    if (!(apart <= tolerance) && !Object.is(got[i], expected[i]))
      expect.fail(`element ${i}: ${got[i]} for ${expected[i]}`);
  }
};

const size = (max: number) => fc.integer({ min: 1, max });
const seed = fc.integer({ min: 1, max: 2 ** 31 });

describe.each(available)('%s kernels against the reference', (kernels) => {
  const ops = [1, 3].map((threads) => native(kernels, threads));
  const any = fc.constantFrom(...ops);

  it('router steps, ties and all', () => {
    fc.assert(
      fc.property(any, seed, size(6), size(4), size(6), size(8), fc.boolean(), (o, s, rows, groups, each, k, sum2) => {
        const cols = groups * each;
        const x = numbers(s, 4)(rows * cols);
        agree(
          o,
          (on) => {
            const scores = on.tensor(rows, cols);
            on.softmax(on.upload(x, rows, cols), scores);
            const choice = on.tensor(rows, cols);
            const keep = Math.max(1, groups - 1);
            on.keepGroups(scores, choice, { groups, keep, by: sum2 ? 'sum2' : 'max', masked: 0 });
            const ids = on.tensor(rows, Math.min(k, cols), 'i32');
            on.topK(choice, ids);
            const weights = on.tensor(rows, Math.min(k, cols));
            on.gather(scores, ids, weights);
            on.normaliseRows(weights, weights, { eps: 1e-20, floor: 0 });
            return [scores, choice, ids, weights];
          },
          1e-6,
        );
      }),
      { numRuns: 100 },
    );
  });

  it('experts: rows shared or apart, biases, rows without an expert', () => {
    fc.assert(
      fc.property(
        any,
        seed,
        size(9),
        size(3),
        size(5),
        size(40),
        size(70),
        fc.boolean(),
        fc.boolean(),
        (o, s, rows, k, count, out, cols, own, biased) => {
          const random = numbers(s);
          const x = random((own ? rows * k : rows) * cols);
          const w = random(count * out * cols);
          const b = random(count * out);
          const ids = Int32Array.from(random(rows * k), (value) => Math.floor(((value + 1) / 2) * (count + 1)) - 1).map(
            (id) => Math.min(id, count - 1),
          );
          const factors = random(rows * k);
          agree(
            o,
            (on) => {
              const y = on.tensor(rows * k, out);
              const chosen = on.upload(ids, rows, k);
              const bias = biased ? on.constant(b) : null;
              on.expertLinear(
                on.upload(x, own ? rows * k : rows, cols),
                on.stack(weight(w, count, out, cols), 'bf16'),
                y,
                { ids: chosen, bias },
              );
              const sum = on.upload(new Float32Array(rows * out).fill(1), rows, out);
              on.combine(y, on.upload(factors, rows, k), sum, { keep: own ? 1 : 0 });
              return [y, sum];
            },
            3e-6,
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  it('block-diagonal products', () => {
    fc.assert(
      fc.property(any, seed, size(9), size(4), size(40), size(70), (o, s, rows, heads, out, cols) => {
        const random = numbers(s);
        const [x, w] = [random(rows * heads * cols), random(heads * out * cols)];
        agree(
          o,
          (on) => {
            const y = on.tensor(rows, heads * out);
            on.headLinear(on.upload(x, rows, heads * cols), on.stack(weight(w, heads, out, cols), null), y);
            return [y];
          },
          3e-6,
        );
      }),
      { numRuns: 30 },
    );
  });

  it('convolution and delta rule over several sequences and calls, their states included', () => {
    fc.assert(
      fc.property(
        any,
        seed,
        size(3),
        size(2),
        size(2),
        size(9),
        size(9),
        size(5),
        fc.array(size(12), { minLength: 1, maxLength: 3 }),
        (o, s, calls, keyHeads, group, keyDim, valueDim, kernel, lengths) => {
          const random = numbers(s);
          const heads = keyHeads * group;
          const rows = lengths.reduce((total, length) => total + length, 0);
          const channels = 2 * keyHeads * keyDim + heads * valueDim;
          const inputs = Array.from(
            { length: calls },
            // Decay in [-2, 0) and beta in [0, 2): what is remembered never grows, nor does the rounding in it.
            () =>
              [
                random(rows * channels),
                random(rows * heads).map((value) => value - 1),
                random(rows * heads).map((value) => value + 1),
              ] as const,
          );
          const [w, b] = [random(channels * kernel), random(channels)];
          // A key of one or two values near zero would be divided by about nothing, and the rounding of the convolution with
          // it: at most `kernel` products, each below one, are added to a bias that keeps queries and keys away from zero.
          b.forEach((value, c) => {
            if (c < 2 * keyHeads * keyDim) b[c] = value + (value < 0 ? -1 : 1) * (kernel + 1);
          });
          agree(
            o,
            (on) => {
              const fixed = (shape: number[]) =>
                on.state({ name: 's', kind: 'recurrent', shape, dtype: 'f32', init: 0, rollback: 'none' });
              const convs = lengths.map(() => fixed([channels, Math.max(1, kernel - 1)]));
              const states = lengths.map(() => fixed([heads, keyDim, valueDim]));
              const starts = lengths.map((_, i) => lengths.slice(0, i).reduce((total, length) => total + length, 0));
              const results: Tensor[] = [];
              for (const [x, decay, beta] of inputs) {
                const mixed = on.tensor(rows, channels);
                const segments = (which: typeof states) =>
                  lengths.map((length, i) => ({ start: starts[i]!, length, state: which[i]! }));
                if (kernel > 1)
                  on.causalConv(on.upload(x, rows, channels), mixed, {
                    segments: segments(convs),
                    weight: on.constant(w),
                    bias: on.constant(b),
                    kernel,
                  });
                else on.copy(on.upload(x, rows, channels), mixed);
                const key = keyHeads * keyDim;
                const [q, k, v] = [
                  on.columns(mixed, 0, key),
                  on.columns(mixed, key, key),
                  on.columns(mixed, 2 * key, heads * valueDim),
                ];
                on.l2Norm(q, q, { size: keyDim, eps: 1e-6 });
                on.l2Norm(k, k, { size: keyDim, eps: 1e-6 });
                const out = on.tensor(rows, heads * valueDim);
                on.deltaRule(
                  { q, k, v, decay: on.upload(decay, rows, heads), beta: on.upload(beta, rows, heads) },
                  out,
                  { segments: segments(states), keyHeads, valueHeads: heads, keyDim, valueDim },
                );
                results.push(out);
              }
              return results;
            },
            1e-5,
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  it('attention whose values are the first part of the keys', () => {
    const random = numbers(11);
    const [q, kv] = [random(5 * 3 * 20), random(9 * 20)];
    for (const o of ops) {
      agree(
        o,
        (on) => {
          const latent = on.state({
            name: 'latent',
            kind: 'latent',
            shape: [20],
            dtype: 'f32',
            init: 0,
            rollback: 'any',
          });
          on.append(latent, on.upload(kv, 9, 20), 0, 9, 0);
          const out = on.tensor(5, 3 * 12);
          const segments = [{ start: 0, length: 5, position: 4, keys: latent, values: latent }];
          on.attend(on.upload(q, 5, 60), out, {
            segments,
            heads: 3,
            kvHeads: 1,
            keyDim: 20,
            valueDim: 12,
            scale: 0.4,
            window: null,
            chunk: null,
            softcap: null,
            sinks: null,
            slopes: null,
          });
          return [out];
        },
        2e-6,
      );
    }
  });
});
