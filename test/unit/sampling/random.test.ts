import { describe, expect, it } from 'vitest';
import { Random, splitmix64 } from '../../../core/dist/sampling/random.js';

describe('random numbers', () => {
  it('SplitMix64 gives the published outputs of seed 1234567', () => {
    const next = splitmix64(1234567n);
    expect([next(), next(), next(), next(), next()]).toEqual([
      6457827717110365317n,
      3203168211198807973n,
      9817491932198370423n,
      4593380528125082431n,
      16408922859458223821n,
    ]);
  });

  it('xoshiro128** gives the outputs of the words 1, 2, 3, 4', () => {
    const random = Random.ofWords([1, 2, 3, 4]);
    const outputs = Array.from({ length: 10 }, () => random.bits());
    expect(outputs).toEqual([
      11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804,
    ]);
  });

  it('are uniform in [0, 1), the same for the same seed', () => {
    const draws = (seed: number) => {
      const random = Random.seeded(seed);
      return Array.from({ length: 20_000 }, () => random.uniform());
    };
    const values = draws(7);
    expect(values).toEqual(draws(7));
    expect(values).not.toEqual(draws(8));
    expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...values)).toBeLessThan(1);
    const buckets = Array<number>(10).fill(0);
    for (const value of values) buckets[Math.floor(value * 10)]!++;
    for (const count of buckets) expect(Math.abs(count - 2000)).toBeLessThan(5 * Math.sqrt(2000));
  });

  it('take every seed up to 2^53 - 1', () => {
    const first = [0, 1, 2 ** 32, 2 ** 53 - 1].map((seed) => Random.seeded(seed).bits());
    expect(new Set(first).size).toBe(4);
  });
});
