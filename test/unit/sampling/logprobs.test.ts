import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Logprobs } from '../../../core/dist/sampling/logprobs.js';

it('are a log-softmax in double precision', () => {
  const logprobs = new Logprobs(Float32Array.of(1, 2, 4));
  const total = Math.log(Math.exp(1) + Math.exp(2) + Math.exp(4));
  expect(logprobs.of(0)).toBeCloseTo(1 - total, 12);
  expect(logprobs.of(2)).toBeCloseTo(4 - total, 12);
  expect(new Logprobs(Float32Array.of(1000, 1000)).of(0)).toBeCloseTo(-Math.LN2, 12);
});

it('sum to one, and the top is that of a sort, the lower id first of equal ones', () => {
  const logits = fc.array(
    fc.integer({ min: -20, max: 20 }).map((n) => n / 3),
    { minLength: 1, maxLength: 40 },
  );
  fc.assert(
    fc.property(logits, fc.nat(12), (values, count) => {
      const logprobs = new Logprobs(Float32Array.from(values));
      const all = values.map((_, id) => ({ id, logprob: logprobs.of(id) }));
      expect(all.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 10);
      const sorted = all.sort((a, b) => b.logprob - a.logprob || a.id - b.id).slice(0, count);
      expect(logprobs.top(count)).toEqual(sorted);
    }),
  );
});

it('refuse what is no number', () => {
  expect(() => new Logprobs(Float32Array.of(1, NaN))).toThrow('token 1 has NaN');
});
