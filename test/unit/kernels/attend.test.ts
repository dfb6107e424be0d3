import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { roundToF16, type AttendOptions, type KvSegment, type Ops } from '@kvad/core';
import { expectClose, hostFloats, MOST_RUNS, newOps, numbers, windowed } from './numbers.js';

/** Sizes and options of an attention; `slopes` and `sinks` by value. */
interface Shape extends Pick<
  AttendOptions,
  'heads' | 'kvHeads' | 'keyDim' | 'valueDim' | 'scale' | 'window' | 'chunk' | 'softcap'
> {
  readonly sinks: Float32Array | null;
  readonly slopes: Float32Array | null;
}

/** One sequence: keys and values of all its tokens, and the queries of the last `queries` of them. */
interface Sequence {
  readonly tokens: number;
  readonly queries: number;
  readonly seed: number;
}

const PLAIN: Shape = {
  heads: 4,
  kvHeads: 2,
  keyDim: 6,
  valueDim: 6,
  scale: 6 ** -0.5,
  window: null,
  chunk: null,
  softcap: null,
  sinks: null,
  slopes: null,
};

const dataOf = ({ tokens, queries, seed }: Sequence, shape: Shape): Record<'q' | 'k' | 'v', Float32Array> => ({
  q: numbers(seed, queries * shape.heads * shape.keyDim).map((x) => 2 * x),
  k: numbers(seed + 1, tokens * shape.kvHeads * shape.keyDim).map((x) => 2 * x),
  v: numbers(seed + 2, tokens * shape.kvHeads * shape.valueDim),
});

/** Which keys a query sees, said as a mask over all of them. */
const sees = (query: number, key: number, { window, chunk }: Shape): boolean =>
  key <= query &&
  (window === null || query - key < window) &&
  (chunk === null || Math.floor(key / chunk) === Math.floor(query / chunk));

/** A whole row of masked scores, its softmax with the sink as one more entry, and the mix of values. */
const longhand = (sequence: Sequence, shape: Shape): number[] => {
  const { heads, kvHeads, keyDim, valueDim, scale, softcap, sinks, slopes } = shape;
  const { q, k, v } = dataOf(sequence, shape);
  const out: number[] = [];
  for (let i = 0; i < sequence.queries; i++) {
    const position = sequence.tokens - sequence.queries + i;
    for (let h = 0; h < heads; h++) {
      const g = Math.floor((h * kvHeads) / heads);
      const scores = Array.from({ length: sequence.tokens }, (_, j) => {
        if (!sees(position, j, shape)) return -Infinity;
        let score = 0;
        for (let d = 0; d < keyDim; d++) score += q[(i * heads + h) * keyDim + d]! * k[(j * kvHeads + g) * keyDim + d]!;
        score = score * scale + (slopes?.[h] ?? 0) * (j - position);
        return softcap === null ? score : softcap * Math.tanh(score / softcap);
      });
      const weights = [...scores, sinks?.[h] ?? -Infinity].map((score) => Math.exp(score));
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      for (let d = 0; d < valueDim; d++) {
        out.push(scores.reduce((sum, _, j) => sum + (weights[j]! / total) * v[(j * kvHeads + g) * valueDim + d]!, 0));
      }
    }
  }
  return out;
};

const cached = (ops: Ops, name: string, values: Float32Array, tokens: number, width: number): KvSegment['keys'] => {
  const state = ops.state({ name, kind: 'kv', shape: [width], dtype: 'cache', init: 0, rollback: 'any' });
  ops.append(state, ops.upload(values, tokens, width), 0, tokens, 0);
  return state;
};

/** All sequences in one call, one segment each, in this order. */
const run = (ops: Ops, sequences: readonly Sequence[], shape: Shape): Float32Array => {
  const { heads, kvHeads, keyDim, valueDim } = shape;
  const data = sequences.map((sequence) => dataOf(sequence, shape));
  const rows = sequences.reduce((sum, { queries }) => sum + queries, 0);
  const queries = Float32Array.from(data.flatMap(({ q }) => Array.from(q)));
  const q = windowed(ops, queries, rows, heads * keyDim);
  const out = windowed(ops, new Float32Array(rows * heads * valueDim), rows, heads * valueDim);
  let start = 0;
  const segments = sequences.map(({ tokens, queries: length }, i): KvSegment => {
    const keys = cached(ops, 'k', data[i]!.k, tokens, kvHeads * keyDim);
    const values = cached(ops, 'v', data[i]!.v, tokens, kvHeads * valueDim);
    start += length;
    return { start: start - length, length, position: tokens - length, keys, values };
  });
  const vector = (values: Float32Array | null) => (values === null ? null : ops.constant(values));
  ops.attend(q, out, { ...shape, sinks: vector(shape.sinks), slopes: vector(shape.slopes), segments });
  return hostFloats(ops, out);
};

const expectLonghand = (sequences: readonly Sequence[], shape: Shape): void => {
  const expected = sequences.flatMap((sequence) => longhand(sequence, shape));
  expectClose(run(newOps(), sequences, shape), expected, 1e-6);
};

const whole = (tokens: number, seed = 1): Sequence => ({ tokens, queries: tokens, seed });

describe('attend', () => {
  it.each<[string, Partial<Shape>]>([
    ['plain, two query heads to a key head', {}],
    ['a key head to each query head', { kvHeads: 4 }],
    ['one key head for all', { kvHeads: 1 }],
    ['another scale', { scale: 1 }],
    ['values wider than keys', { valueDim: 9 }],
    ['values narrower than keys', { valueDim: 3 }],
    ['softcap', { softcap: 0.7 }],
    ['sinks', { sinks: Float32Array.of(0.5, -3, 4, 0) }],
    ['slopes', { slopes: Float32Array.of(0.5, 0.25, 0.125, 0) }],
    ['softcap with sinks and slopes', { softcap: 2, sinks: numbers(7, 4), slopes: Float32Array.of(0.5, 0.25, 0.1, 1) }],
    ['window and chunk', { window: 3, chunk: 4 }],
  ])('%s', (_name, change) => {
    expectLonghand([whole(13)], { ...PLAIN, ...change });
  });

  it('is its definition for any sizes, options and batches', () => {
    const head = fc.constantFrom([1, 1], [3, 1], [4, 2], [3, 3], [6, 2]);
    const small = fc.integer({ min: 1, max: 9 });
    const maybe = fc.option(small);
    fc.assert(
      fc.property(
        fc.record({ head, keyDim: small, valueDim: small, window: maybe, chunk: maybe, cap: maybe, seed: fc.nat() }),
        fc.record({ sinks: fc.boolean(), slopes: fc.boolean() }),
        fc.array(fc.tuple(small, fc.integer({ min: 0, max: 12 })), { minLength: 1, maxLength: 4 }),
        ({ head: [heads, kvHeads], cap, seed, ...sizes }, has, lengths) => {
          expectLonghand(
            lengths.map(([queries, before], i) => ({ tokens: before + queries, queries, seed: seed + 10 * i })),
            {
              ...sizes,
              heads: heads!,
              kvHeads: kvHeads!,
              scale: 0.4,
              softcap: cap === null ? null : cap / 2,
              sinks: has.sinks ? numbers(seed + 5, heads!) : null,
              slopes: has.slopes ? numbers(seed + 6, heads!).map(Math.abs) : null,
            },
          );
        },
      ),
      MOST_RUNS,
    );
  });

  it.each([4, 5, 6])('a window of 5 counts the query itself: the query after %d tokens', (before) => {
    const shape = { ...PLAIN, window: 5 };
    const tokens = before + 1;
    const windowedOut = run(newOps(), [{ tokens, queries: 1, seed: 3 }], shape);
    const fullOut = run(newOps(), [{ tokens, queries: 1, seed: 3 }], PLAIN);
    expectClose(windowedOut, longhand({ tokens, queries: 1, seed: 3 }, shape), 1e-6);
    if (tokens <= 5) expect(windowedOut).toEqual(fullOut);
    else expect(windowedOut).not.toEqual(fullOut);
  });

  it('a window of 1 gives the value of the token itself', () => {
    const shape = { ...PLAIN, kvHeads: 4, window: 1 };
    expect(run(newOps(), [whole(6)], shape)).toEqual(dataOf(whole(6), shape).v);
  });

  it('gives the same bits whole, in pieces, and beside other sequences', () => {
    const together = run(newOps(), [whole(9, 2)], PLAIN);
    const width = PLAIN.heads * PLAIN.valueDim;
    const ops = newOps();
    const { q, k, v } = dataOf(whole(9, 2), PLAIN);
    const keys = cached(ops, 'k', k.subarray(0, 0), 0, 12);
    const values = cached(ops, 'v', v.subarray(0, 0), 0, 12);
    const [qAll, kAll, vAll] = [ops.upload(q, 9, 24), ops.upload(k, 9, 12), ops.upload(v, 9, 12)];
    for (const [position, length] of [
      [0, 1],
      [1, 4],
      [5, 1],
      [6, 3],
    ] as const) {
      ops.append(keys, kAll, position, length, position);
      ops.append(values, vAll, position, length, position);
      const out = ops.tensor(length, width);
      const segments = [{ start: 0, length, position, keys, values }];
      ops.attend(ops.rows(qAll, position, length), out, { ...PLAIN, sinks: null, slopes: null, segments });
      expect(ops.host(out)).toEqual(together.slice(position * width, (position + length) * width));
    }
    const batch = run(newOps(), [whole(3, 50), { tokens: 9, queries: 9, seed: 2 }, whole(1, 60)], PLAIN);
    expect(batch.slice(3 * width, 12 * width)).toEqual(together);
  });

  it('does not overflow on large scores, nor lose the small ones', () => {
    const ops = newOps();
    const shape = { ...PLAIN, heads: 1, kvHeads: 1, keyDim: 1, valueDim: 1, scale: 1 };
    const keys = cached(ops, 'k', Float32Array.of(5000, 5001), 2, 1);
    const values = cached(ops, 'v', Float32Array.of(1, 3), 2, 1);
    const out = ops.tensor(1, 1);
    const segments = [{ start: 0, length: 1, position: 1, keys, values }];
    ops.attend(ops.upload(Float32Array.of(1), 1, 1), out, { ...shape, sinks: null, slopes: null, segments });
    expectClose(hostFloats(ops, out), [(1 + 3 * Math.E) / (1 + Math.E)], 1e-6);
  });

  it('shows a NaN in the cache in every row that sees it, and in no other', () => {
    const ops = newOps();
    const shape = { ...PLAIN, heads: 1, kvHeads: 1, keyDim: 1, valueDim: 1, scale: 1, window: 2 };
    const keys = cached(ops, 'k', Float32Array.of(1, NaN, 1, 1), 4, 1);
    const values = cached(ops, 'v', Float32Array.of(1, 1, 1, 1), 4, 1);
    const out = ops.tensor(4, 1);
    const segments = [{ start: 0, length: 4, position: 0, keys, values }];
    ops.attend(ops.upload(Float32Array.of(1, 1, 1, 1), 4, 1), out, { ...shape, sinks: null, slopes: null, segments });
    expect(ops.host(out)).toEqual(Float32Array.of(1, NaN, NaN, 1));
  });

  it('leaves rows outside of all segments as they are', () => {
    const ops = newOps();
    const keys = cached(ops, 'k', numbers(1, 12), 1, 12);
    const out = ops.upload(new Float32Array(72).fill(8), 3, 24);
    const segments = [{ start: 1, length: 1, position: 0, keys, values: keys }];
    ops.attend(ops.upload(numbers(2, 72), 3, 24), out, { ...PLAIN, sinks: null, slopes: null, segments });
    expect(ops.host(ops.rows(out, 0, 1))).toEqual(new Float32Array(24).fill(8));
    expect(ops.host(ops.rows(out, 2, 1))).toEqual(new Float32Array(24).fill(8));
    expect(ops.host(ops.rows(out, 1, 1))).not.toEqual(new Float32Array(24).fill(8));
  });

  it('reads an f16 cache as it was rounded', () => {
    const ops = newOps('f16');
    const shape = { ...PLAIN, kvHeads: 4, window: 1 };
    expect(run(ops, [whole(5)], shape)).toEqual(dataOf(whole(5), shape).v.map(roundToF16));
  });

  describe('refuses', () => {
    const ops = newOps();
    const keys = cached(ops, 'k', numbers(1, 24), 2, 12);
    const attend = (change: Partial<AttendOptions>, segment: Partial<KvSegment> = {}, q = ops.tensor(2, 24)): void => {
      const segments = [{ start: 0, length: 2, position: 0, keys, values: keys, ...segment }];
      ops.attend(q, ops.tensor(2, 24), { ...PLAIN, sinks: null, slopes: null, segments, ...change });
    };

    it.each<[string, Partial<AttendOptions>, Partial<KvSegment>, string]>([
      ['another width of q', { heads: 3, kvHeads: 1 }, {}, 'q [2, 24]'],
      ['another width of the cache', { kvHeads: 4 }, {}, 'keys [2, 12]'],
      ['heads that cannot be shared out', { heads: 4, kvHeads: 3 }, {}, 'heads 4, kvHeads 3'],
      ['rows beyond q', {}, { start: 1 }, 'start 1, length 2'],
      ['keys that were not appended', {}, { position: 1 }, 'position 1, length 2, keys 2'],
      ['a window that sees nothing', { window: 0 }, {}, 'window 0'],
    ])('%s', (_name, change, segment, message) => {
      expect(() => attend(change, segment)).toThrow(message);
    });

    it('sinks of another count, and output over the queries', () => {
      expect(() => attend({ sinks: ops.constant(new Float32Array(3)) })).toThrow('sinks has 3 values, 4 are needed');
      const q = ops.tensor(2, 24);
      const segments = [{ start: 0, length: 2, position: 0, keys, values: keys }];
      expect(() => ops.attend(q, q, { ...PLAIN, sinks: null, slopes: null, segments })).toThrow('must not share');
    });
  });
});
