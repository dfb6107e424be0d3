import { resolveSampling, SAMPLING_DEFAULTS } from '@kvad/core';
import { expect, it } from 'vitest';

it('options are the caller’s, then the model’s, then kvad’s', () => {
  expect(resolveSampling({})).toEqual(SAMPLING_DEFAULTS);
  expect(resolveSampling({ topK: 3 }, { topK: 9, topP: 0.5 })).toEqual({ ...SAMPLING_DEFAULTS, topK: 3, topP: 0.5 });
  expect(resolveSampling({ temperature: 0 }, { temperature: 1 }).temperature).toBe(0);
});

it.each([
  ['temperature', -0.1],
  ['temperature', Infinity],
  ['topK', -1],
  ['topK', 1.5],
  ['topP', 0],
  ['topP', 1.01],
  ['topP', NaN],
  ['minP', 1],
  ['minP', -0.1],
  ['repeatPenalty', 0],
  ['repeatWindow', -1],
  ['seed', -1],
  ['seed', 2 ** 53],
])('%s of %d is refused, whoever gives it', (option, value) => {
  const refusal = expect.objectContaining({
    code: 'KVAD_E_OPTION',
    params: expect.objectContaining({ option, value: String(value) }) as object,
  }) as Error;
  expect(() => resolveSampling({ [option]: value })).toThrow(refusal);
  expect(() => resolveSampling({}, { [option]: value })).toThrow(refusal);
});
