import fc from 'fast-check';
import { expect, it } from 'vitest';
import { expOfNegative } from '../../../core/dist/sampling/exponential.js';

it('is the exponential to the last digits, at every size', () => {
  const exponent = fc.oneof(
    fc.double({ min: -1, max: 0, noNaN: true }),
    fc.double({ min: -40, max: 0, noNaN: true }),
    fc.double({ min: -707, max: 0, noNaN: true }),
    // the borders between two steps
    fc.integer({ min: -65_000, max: 0 }).map((halfSteps) => (halfSteps * Math.LN2) / 128),
  );
  fc.assert(
    fc.property(exponent, (x) => {
      const exact = Math.exp(x);
      expect(Math.abs(expOfNegative(x) - exact)).toBeLessThanOrEqual(exact * (5 + 2 * Math.abs(x)) * 2 ** -53);
    }),
    { numRuns: 20_000 },
  );
});

it('is 1 at 0, and nothing for what cannot be', () => {
  expect([0, -0].map(expOfNegative)).toEqual([1, 1]);
  expect([-708, -1e9, -Number.MAX_VALUE, -Infinity].map(expOfNegative)).toEqual([0, 0, 0, 0]);
  expect(expOfNegative(NaN)).toBeNaN();
});
