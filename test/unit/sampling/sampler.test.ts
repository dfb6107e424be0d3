import { SAMPLING_DEFAULTS, type SamplingOptions } from '@kvad/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawAt, keepMinP, keepTopP, likeliest, weigh } from '../../../core/dist/sampling/candidates.js';
import { largestIds } from '../../../core/dist/sampling/largest.js';
import { penaliseRepeats } from '../../../core/dist/sampling/penalty.js';
import { Random } from '../../../core/dist/sampling/random.js';
import { Sampler } from '../../../core/dist/sampling/sampler.js';

const OFF: SamplingOptions = {
  temperature: 1,
  topK: 0,
  topP: 1,
  minP: 0,
  repeatPenalty: 1,
  repeatWindow: 64,
  seed: 1,
};

interface Weighed {
  readonly id: number;
  readonly weight: number;
}

/** The chain as its documentation tells it: everything sorted, everything normalised, one step after the other. */
const longhand = (logits: readonly number[], context: readonly number[], options: SamplingOptions): Weighed[] => {
  const { temperature, topK, topP, minP, repeatPenalty, repeatWindow } = options;
  const recent = new Set(context.slice(Math.max(0, context.length - repeatWindow)));
  const penalised = logits.map((logit, id) => {
    if (!recent.has(id)) return logit;
    return logit > 0 ? logit / repeatPenalty : logit * repeatPenalty;
  });
  const max = Math.max(...penalised);
  const sorted = penalised
    .map((logit, id) => ({ id, weight: Math.exp((logit - max) / temperature) }))
    .sort((a, b) => b.weight - a.weight || a.id - b.id);
  const likeliest = topK > 0 ? sorted.slice(0, topK) : sorted;
  const total = likeliest.reduce((sum, { weight }) => sum + weight, 0);
  let before = 0;
  const nucleus = likeliest.filter(({ weight }, index) => {
    const kept = topP >= 1 || index === 0 || before < topP * total - 1e-12;
    before += weight;
    return kept;
  });
  return nucleus.filter(({ weight }) => weight >= minP * nucleus[0]!.weight);
};

/** Few distinct values, so that ties are common. */
const logitsArbitrary = fc.array(
  fc.integer({ min: -8, max: 8 }).map((n) => n / 4),
  { minLength: 1, maxLength: 60 },
);
const optionsArbitrary = fc.record({
  temperature: fc.constantFrom(0.3, 0.7, 1, 2.5),
  topK: fc.constantFrom(0, 1, 2, 5, 100),
  topP: fc.constantFrom(0.05, 0.31, 0.77, 0.93, 1),
  minP: fc.constantFrom(0, 0.013, 0.21, 0.63),
  repeatPenalty: fc.constantFrom(1, 1.3, 0.8),
  repeatWindow: fc.constantFrom(0, 3, 64),
  seed: fc.nat(1000),
});

describe('the sampler', () => {
  it('draws what the documented chain leaves, where the random number points', () => {
    fc.assert(
      fc.property(
        logitsArbitrary,
        fc.array(fc.nat(59), { maxLength: 10 }),
        optionsArbitrary,
        (logits, context, options) => {
          const left = longhand(logits, context, options);
          const drawn = new Sampler(options).next(Float32Array.from(logits), context);
          expect(left.map(({ id }) => id)).toContain(drawn);
          const inOrder = options.topK > 0 || options.topP < 1 ? left : [...left].sort((a, b) => a.id - b.id);
          const target = Random.seeded(options.seed).uniform() * left.reduce((sum, { weight }) => sum + weight, 0);
          let cumulative = 0;
          const expected = inOrder.find(({ weight }) => (cumulative += weight) > target) ?? inOrder.at(-1)!;
          if (Math.abs(cumulative - target) > 1e-9) expect(drawn).toBe(expected.id);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('draws each token as often as its probability says', () => {
    const logits = Float32Array.from([0, 1, 2, 3]);
    const sampler = new Sampler(OFF);
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 20_000; i++) counts[sampler.next(logits, [])]!++;
    const total = [0, 1, 2, 3].reduce((sum, logit) => sum + Math.exp(logit), 0);
    counts.forEach((count, id) => {
      const expected = (20_000 * Math.exp(id)) / total;
      expect(Math.abs(count - expected)).toBeLessThan(5 * Math.sqrt(expected));
    });
  });

  it('at temperature 0 takes the largest logit after the penalty, of equal ones the lowest id', () => {
    const greedy = new Sampler({ ...OFF, temperature: 0, repeatPenalty: 2, repeatWindow: 2 });
    expect(greedy.next(Float32Array.from([1, 3, 3, 2]), [])).toBe(1);
    expect(greedy.next(Float32Array.from([1, 3, 3, 2]), [1])).toBe(2);
    expect(greedy.next(Float32Array.from([1, 3, 3, 2]), [1, 2])).toBe(3);
    expect(greedy.next(Float32Array.from([1, 3, 3, 2]), [1, 0, 0])).toBe(1);
    expect(greedy.next(Float32Array.from([-1, -3]), [0])).toBe(0);
    expect(greedy.next(Float32Array.from([-1, -1.5]), [0])).toBe(1);
  });

  it('never draws what cannot be', () => {
    const sampler = new Sampler(OFF);
    for (let i = 0; i < 100; i++) expect(sampler.next(Float32Array.from([-Infinity, 0, -Infinity]), [])).toBe(1);
  });

  it.each([
    [[1, NaN, 2], 'token 1 has NaN'],
    [[1, Infinity], 'token 1 has Infinity'],
    [[-Infinity, -Infinity], 'nothing but -Infinity'],
    [[], 'nothing but -Infinity'],
  ])('refuses the logits %j', (logits, message) => {
    for (const temperature of [0, 1]) {
      const draw = () => new Sampler({ ...OFF, temperature }).next(Float32Array.from(logits), []);
      expect(draw).toThrow(message);
    }
  });
});

describe('a filter', () => {
  const weighed = (logits: number[], k = 0) => weigh(likeliest(Float32Array.from(logits), k), 1);
  const five = (k = 0) => weighed([1, 3, 2, 3, 0], k);

  it('of the k likeliest keeps exactly k, the lower ids of a tie', () => {
    expect([...five(1).ids]).toEqual([1]);
    expect([...five(3).ids]).toEqual([1, 3, 2]);
    expect([...five(9).ids]).toEqual([1, 3, 2, 0, 4]);
    expect(five(0).ids).toHaveLength(5);
  });

  it('of a share keeps the token that crosses it, and one at least', () => {
    const halves = weighed([0, 0]);
    expect([...keepTopP(halves, 0.5).ids]).toEqual([0]);
    expect([...keepTopP(halves, 0.51).ids]).toEqual([0, 1]);
    expect([...keepTopP(five(), 1e-9).ids]).toEqual([1]);
  });

  it('of a share finds tokens of very small weight too', () => {
    const steep = weighed([0, -30, -60]);
    expect([...keepTopP(steep, 1 - 2 ** -53).ids]).toEqual([0, 1]);
    expect([...keepTopP(weighed([-50, -50, 0]), 0.999).ids]).toEqual([2]);
  });

  it('of a least share of the best keeps those at the border', () => {
    const candidates = { ids: Int32Array.of(4, 5, 6), weights: Float64Array.of(1, 0.5, 0.49), sorted: true };
    expect([...keepMinP(candidates, 0.5).ids]).toEqual([4, 5]);
    expect(keepMinP(candidates, 0).ids).toHaveLength(3);
  });
});

it('a draw walks the weights in their order and passes those of nothing', () => {
  const candidates = { ids: Int32Array.of(7, 8, 9, 3), weights: Float64Array.of(1, 0, 2, 1), sorted: false };
  expect([0, 0.24, 0.26, 0.74, 0.76, 1 - 2 ** -53].map((u) => drawAt(candidates, u))).toEqual([7, 7, 9, 9, 3, 3]);
});

it('the penalty counts a token once, and passes ids that are no logits', () => {
  const penalised = penaliseRepeats(Float32Array.of(2, -2, 4), [0, 0, 1, 77, -1], 2);
  expect([...penalised]).toEqual([
    [0, 1],
    [1, -4],
  ]);
});

it.each([0, 0.7])('a penalty that makes a logit infinite is refused, at temperature %d', (temperature) => {
  for (const topK of [0, 2]) {
    const sampler = new Sampler({ ...SAMPLING_DEFAULTS, temperature, topK, repeatPenalty: 1e-308 });
    expect(() => sampler.next(Float32Array.of(1, 40, 3), [1])).toThrow('token 1 has Infinity');
  }
});

it('the largest ids are those of a sort, of equal logits the lower', () => {
  const logit = fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.float({ noNaN: true, noDefaultInfinity: true }),
    fc.constant(-Infinity),
  );
  fc.assert(
    fc.property(fc.array(logit, { minLength: 1, maxLength: 200 }), fc.integer({ min: 1, max: 50 }), (values, k) => {
      const logits = Float32Array.of(...values, 0);
      const sorted = [...logits.keys()].sort((a, b) => logits[b]! - logits[a]! || a - b);
      expect([...largestIds(logits, k)]).toEqual(sorted.filter((id) => logits[id] !== -Infinity).slice(0, k));
    }),
  );
});

it('the defaults are on the safe side of every range', () => {
  expect(new Sampler(SAMPLING_DEFAULTS).next(Float32Array.of(0, 9), [])).toBe(1);
});
