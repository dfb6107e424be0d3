import { argmax, compareLogits, describeComparison, standardDeviation } from '@kvad/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const of = (...values: number[]): Float32Array => Float32Array.from(values);

describe('compareLogits', () => {
  it('finds the largest difference, wherever it is', () => {
    const expected = of(0, 1, 2, 3, 4, 5);
    for (let index = 0; index < 6; index++) {
      const actual = expected.slice();
      actual[index]! -= 0.5;
      actual[(index + 1) % 6]! += 0.25;
      const { maxAbsDiff, worst, positions } = compareLogits(actual, expected, 3);
      expect({ maxAbsDiff, positions }).toEqual({ maxAbsDiff: 0.5, positions: 2 });
      expect(worst).toMatchObject({ position: Math.floor(index / 3), token: index % 3, expected: index });
    }
  });

  it.each([NaN, Infinity, -Infinity])('%s on either side is an infinite difference, not none', (value) => {
    const broken = of(1, 2, value, 4);
    for (const [actual, expected] of [
      [broken, of(1, 2, 3, 4)],
      [of(1, 2, 3, 4), broken],
      [broken, broken],
    ] as const) {
      const { maxAbsDiff, worst } = compareLogits(actual, expected, 2);
      expect(maxAbsDiff).toBe(Infinity);
      expect(worst).toMatchObject({ position: 1, token: 0 });
    }
  });

  it('a row with a NaN agrees on no best token', () => {
    expect(compareLogits(of(NaN, 1, 0, 1), of(0, 1, 0, 1), 2).argmaxAgreement).toBe(0.5);
  });

  it('a tie goes to the lowest id', () => {
    expect(argmax(of(1, 3, 3))).toBe(1);
    expect(compareLogits(of(3, 3), of(3, 2.9), 2).argmaxAgreement).toBe(1);
  });

  it.each([
    ['fewer rows', of(1, 2), of(1, 2, 3, 4), 2],
    ['another vocabulary', of(1, 2, 3), of(1, 2, 3), 2],
    ['nothing', of(), of(), 2],
  ])('refuses %s', (_, actual, expected, vocabSize) => {
    expect(() => compareLogits(actual, expected, vocabSize)).toThrow(RangeError);
  });

  it('is zero only for equal logits', () => {
    const values = fc.float32Array({ minLength: 4, maxLength: 4, noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(values, values, (a, b) => {
        const { maxAbsDiff } = compareLogits(a, b, 2);
        expect(maxAbsDiff === 0).toBe(a.every((value, index) => value === b[index]));
      }),
    );
  });

  it('says where and how much', () => {
    const line = describeComparison(compareLogits(of(0, 1, 2, 5), of(0, 1, 2, 3), 2));
    expect(line).toContain('2.00e+0 at position 1 of 2, token 1: 5 instead of 3');
  });
});

it('standardDeviation is that of the population', () => {
  expect(standardDeviation(of(2, 4, 4, 4, 5, 5, 7, 9))).toBe(2);
});
