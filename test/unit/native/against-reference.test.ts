import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { Ops, State, Tensor, WeightData } from '@kvad/core';
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

/** Numbers from a seed: the same for both implementations. */
const numbers = (seed: number) => {
  let state = seed >>> 0;
  return (count: number, scale = 1): Float32Array =>
    Float32Array.from({ length: count }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return ((state >>> 8) / 2 ** 23 - 1) * scale;
    });
};
const weight = (values: Float32Array, ...shape: number[]): WeightData => ({
  dtype: 'F32',
  shape,
  bytes: new Uint8Array(values.buffer),
});

/** The largest difference; NaN where either has one. */
const distance = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  if (a.length !== b.length) return NaN;
  let worst = 0;
  for (let i = 0; i < a.length; i++) {
    const d = Math.abs(a[i]! - b[i]!);
    if (!(d <= worst)) worst = d;
  }
  return worst;
};

/** Runs the same calls on both and returns both results. */
const both = (ops: Ops, act: (ops: Ops) => Tensor): [Float32Array, Float32Array] => {
  const reference = createReferenceOps({ kvCacheDtype: 'f32' });
  const run = (which: Ops): Float32Array => {
    const mark = which.mark();
    const out = Float32Array.from(which.host(act(which)));
    which.release(mark);
    return out;
  };
  const result: [Float32Array, Float32Array] = [run(ops), run(reference)];
  reference.dispose();
  return result;
};

const close = (ops: Ops, act: (ops: Ops) => Tensor, tolerance: number): void => {
  const [got, expected] = both(ops, act);
  const size = expected.reduce((top, value) => Math.max(top, Math.abs(value)), 1);
  expect(distance(got, expected) / size).toBeLessThanOrEqual(tolerance);
};

const size = (max: number) => fc.integer({ min: 1, max });
const seed = fc.integer({ min: 1, max: 2 ** 31 });

describe.each(available)('%s kernels against the reference', (kernels) => {
  const ops = [1, 2, 3, 4].map((threads) => native(kernels, threads));
  const any = fc.constantFrom(...ops);

  it.each(['f32', 'f16', 'bf16'] as const)('products of %s matrices', (precision) => {
    fc.assert(
      fc.property(any, seed, size(20), size(80), size(300), fc.boolean(), (o, s, rows, out, cols, biased) => {
        const random = numbers(s);
        const x = random(rows * cols);
        const w = random(out * cols);
        const b = random(out);
        close(
          o,
          (on) => {
            const y = on.tensor(rows, out);
            const bias = biased ? on.vector(weight(b, out)) : null;
            on.linear(on.upload(x, rows, cols), on.matrix(weight(w, out, cols), precision), y, { bias });
            return y;
          },
          2e-5,
        );
      }),
      { numRuns: 40 },
    );
  });

  it('products of the same rows, one after another, into columns of one tensor', () => {
    fc.assert(
      fc.property(any, seed, size(9), size(40), size(70), (o, s, rows, out, cols) => {
        const random = numbers(s);
        const x = random(rows * cols);
        const w = random(3 * out * cols);
        close(
          o,
          (on) => {
            const y = on.tensor(rows, 3 * out);
            const source = on.upload(x, rows, cols);
            for (let i = 0; i < 3; i++) {
              const part = weight(w.slice(i * out * cols, (i + 1) * out * cols), out, cols);
              on.linear(source, on.matrix(part, null), on.columns(y, i * out, out), { bias: null });
            }
            return y;
          },
          2e-5,
        );
      }),
      { numRuns: 20 },
    );
  });

  it('norms per row and per group, with shared and own weights', () => {
    fc.assert(
      fc.property(
        any,
        seed,
        size(6),
        size(5),
        size(40),
        fc.boolean(),
        fc.boolean(),
        (o, s, rows, groups, n, own, rms) => {
          const random = numbers(s);
          const x = random(rows * groups * n, 3);
          const w = random(own ? groups * n : n);
          const b = random(own ? groups * n : n);
          close(
            o,
            (on) => {
              const y = on.upload(x, rows, groups * n);
              const options = { size: n, eps: 1e-6, offset: own ? (1 as const) : (0 as const), weight: on.constant(w) };
              if (rms) on.rmsNorm(y, y, options);
              else on.layerNorm(y, y, { ...options, bias: on.constant(b) });
              return y;
            },
            1e-5,
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  it('layer norm of values whose differences are small beside their mean', () => {
    fc.assert(
      fc.property(
        any,
        seed,
        size(3),
        fc.integer({ min: 2, max: 40 }),
        fc.integer({ min: 0, max: 20 }),
        (o, s, rows, n, bits) => {
          const random = numbers(s);
          const spread = 3 * 2 ** -bits;
          const x = random(rows * n, spread).map((value, i) => value + 3 * Math.cos(Math.floor(i / n) + s));
          close(
            o,
            (on) => {
              const y = on.upload(x, rows, n);
              on.layerNorm(y, y, { size: n, eps: 1e-12, offset: 0, weight: null, bias: null });
              return y;
            },
            1e-5,
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  it.each([
    'silu',
    'gelu',
    'gelu_tanh',
    'quick_gelu',
    'relu',
    'relu2',
    'tanh',
    'sigmoid',
    'softplus',
    'identity',
  ] as const)('activation %s, alone and gating', (f) => {
    const values = Float32Array.from({ length: 401 }, (_, i) => (i - 200) / 8);
    for (const o of ops) {
      close(
        o,
        (on) => {
          const y = on.tensor(1, 401);
          on.activate(on.upload(values, 1, 401), y, f);
          return y;
        },
        1e-5,
      );
      close(
        o,
        (on) => {
          const y = on.tensor(1, 401);
          on.gated(on.upload(values, 1, 401), on.upload(values, 1, 401), y, f);
          return y;
        },
        1e-5,
      );
    }
  });

  it('elementwise ops, on windows of wider tensors', () => {
    fc.assert(
      fc.property(any, seed, size(5), size(30), (o, s, rows, cols) => {
        const random = numbers(s);
        const [a, b, f, v, w] = [
          random(rows * (cols + 3)),
          random(rows * cols),
          random(rows),
          random(cols),
          random(cols),
        ];
        const calls: ((on: Ops, x: Tensor, y: Tensor, out: Tensor) => void)[] = [
          (on, x, y, out) => {
            on.copy(x, out);
            on.add(y, out, { keep: 0.5, scale: -2 });
          },
          (on, x, y, out) => on.multiply(x, y, out),
          (on, x, _, out) => on.scaleGroups(x, on.upload(f, rows, 1), out, { size: cols }),
          (on, x, _, out) => on.affine(x, out, { scale: on.constant(v), bias: on.constant(w) }),
          (on, x, _, out) => on.scale(x, out, 3),
          (on, x, _, out) => on.clamp(x, out, { low: -0.25, high: 0.5 }),
          (on, x, _, out) => on.softcap(x, out, 0.7),
          (on, x, _, out) => on.xielu(x, out, { alphaP: 0.8, alphaN: 0.6, beta: 0.5, eps: -1e-6 }),
        ];
        for (const call of calls) {
          close(
            o,
            (on) => {
              const out = on.tensor(rows, cols);
              call(on, on.columns(on.upload(a, rows, cols + 3), 2, cols), on.upload(b, rows, cols), out);
              return out;
            },
            1e-5,
          );
        }
      }),
      { numRuns: 20 },
    );
  });

  it('rotary positions of each layout', () => {
    fc.assert(
      fc.property(
        any,
        seed,
        size(5),
        size(4),
        size(8),
        fc.boolean(),
        fc.boolean(),
        (o, s, rows, heads, half, interleaved, inverse) => {
          const random = numbers(s);
          const headDim = 2 * half + 3;
          const x = random(rows * heads * headDim);
          const [cos, sin] = [random(rows * half), random(rows * half)];
          close(
            o,
            (on) => {
              const y = on.upload(x, rows, heads * headDim);
              const angles = { cos: on.upload(cos, rows, half), sin: on.upload(sin, rows, half), dims: 2 * half };
              on.rope(y, angles, {
                heads,
                headDim,
                from: inverse ? 3 : 0,
                layout: interleaved ? 'interleaved' : 'half',
                inverse,
              });
              return y;
            },
            1e-5,
          );
        },
      ),
      { numRuns: 30 },
    );
  });

  it('attention: groups, window, blocks, cap, sinks, slopes, several sequences, keys before this call', () => {
    const options = fc.record({
      window: fc.option(size(40), { nil: null }),
      chunk: fc.option(size(40), { nil: null }),
      softcap: fc.option(fc.constantFrom(0.5, 5), { nil: null }),
      sinks: fc.boolean(),
      slopes: fc.boolean(),
    });
    fc.assert(
      fc.property(
        any,
        seed,
        size(3),
        size(4),
        size(24),
        size(24),
        fc.array(fc.tuple(fc.nat(90), size(40)), { minLength: 1, maxLength: 3 }),
        options,
        (o, s, kvHeads, group, keyDim, valueDim, lengths, { window, chunk, softcap, sinks, slopes }) => {
          const random = numbers(s);
          const heads = kvHeads * group;
          const rows = lengths.reduce((total, [, length]) => total + length, 0);
          const q = random(rows * heads * keyDim, 2);
          const cached = lengths.map(([before, length]) => ({
            keys: random((before + length) * kvHeads * keyDim, 2),
            values: random((before + length) * kvHeads * valueDim),
          }));
          const [sink, slope] = [random(heads), random(heads)];
          close(
            o,
            (on) => {
              const fill = (name: string, width: number, values: Float32Array): State => {
                const state = on.state({ name, kind: 'kv', shape: [width], dtype: 'f32', init: 0, rollback: 'any' });
                on.append(state, on.upload(values, values.length / width, width), 0, values.length / width, 0);
                return state;
              };
              let start = 0;
              const segments = lengths.map(([before, length], i) => {
                const keys = fill('k', kvHeads * keyDim, cached[i]!.keys);
                const values = fill('v', kvHeads * valueDim, cached[i]!.values);
                start += length;
                return { start: start - length, length, position: before, keys, values };
              });
              const out = on.tensor(rows, heads * valueDim);
              on.attend(on.upload(q, rows, heads * keyDim), out, {
                segments,
                heads,
                kvHeads,
                keyDim,
                valueDim,
                scale: 0.3,
                window,
                chunk,
                softcap,
                sinks: sinks ? on.constant(sink) : null,
                slopes: slopes ? on.constant(slope) : null,
              });
              on.host(out);
              for (const { keys, values } of segments) {
                on.freeState(keys);
                on.freeState(values);
              }
              return out;
            },
            2e-5,
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  it('rows of an embedding, scaled, shifted and added', () => {
    const random = numbers(7);
    const table = random(40 * 33);
    for (const o of ops) {
      close(
        o,
        (on) => {
          const out = on.upload(random(0).length === 0 ? new Float32Array(3 * 33).fill(2) : new Float32Array(), 3, 33);
          const ids = on.upload(Int32Array.of(5, 0, 37), 3, 1);
          on.embed(on.matrix(weight(table, 40, 33), 'bf16'), ids, out, { scale: 1.5, offset: 2, add: true });
          return out;
        },
        1e-6,
      );
    }
  });
});

describe('the addon', () => {
  it.runIf(available.length > 0)('refuses a command that reaches outside of its memory', () => {
    const addon = loadAddon()!;
    const engine = addon.create(1, 'portable', 1 << 20, 0);
    addon.start(engine, Float64Array.of(13, 9, 1e9, 1, 1, 1, 0, 1, 1, 1, 2), 11);
    expect(() => addon.finish(engine)).toThrow(/refused/);
    addon.start(engine, Float64Array.of(99, 0), 2);
    expect(() => addon.finish(engine)).toThrow(/unknown command/);
    addon.dispose(engine);
    expect(() => addon.start(engine, Float64Array.of(13, 0), 2)).toThrow(/disposed/);
  });
});
