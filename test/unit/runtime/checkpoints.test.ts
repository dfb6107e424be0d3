import { expect, it } from 'vitest';
import { Checkpoints } from '../../../core/dist/runtime/checkpoints.js';

const of = (bytes: number) => () => ({ states: [], bytes });

const held = (budget: number, lengths: readonly number[]): Checkpoints => {
  const checkpoints = new Checkpoints(budget);
  for (const length of lengths) checkpoints.add(length, of(10));
  return checkpoints;
};

it('gives the last one at or before a length', () => {
  const checkpoints = held(1000, [8, 16, 24]);
  expect(checkpoints.before(23)?.length).toBe(16);
  expect(checkpoints.before(24)?.length).toBe(24);
  expect(checkpoints.before(7)).toBeNull();
});

it('holds none for the start and one for each length', () => {
  expect(held(1000, [0, 4, 4]).lengths).toEqual([4]);
});

it('does not take a snapshot that it has', () => {
  const checkpoints = held(1000, [4]);
  checkpoints.add(4, () => {
    throw new Error('taken again');
  });
});

it('gives up those after a cut', () => {
  const checkpoints = held(1000, [8, 16, 24]);
  checkpoints.cut(16);
  expect(checkpoints.lengths).toEqual([8, 16]);
});

it('within its budget gives up the one whose neighbours lie closest', () => {
  expect(held(30, [100, 110, 200, 300]).lengths).toEqual([100, 200, 300]);
  expect(held(30, [50, 100, 110, 200]).lengths).toEqual([50, 110, 200]);
});

it('keeps the last one even when it alone is more than the budget', () => {
  expect(held(5, [8, 16, 24]).lengths).toEqual([24]);
});
