import type { Budget } from '../limits.js';
import { Dict } from './dict.js';
import { Float, type Value } from './values.js';

/** A value of JSON as Python has it: whole numbers are integers. What is no JSON becomes text. */
export const fromJson = (value: unknown, budget: Budget): Value => {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value + 0 : floatOrLarge(value);
  if (typeof value !== 'object') return String(value);
  budget.enter();
  const converted = Array.isArray(value) ? fromArray(value, budget) : fromObject(value, budget);
  budget.leave();
  return converted;
};

/** JSON writes an integer beyond 2^53 without a point, and Python keeps it one. */
const floatOrLarge = (value: number): Value =>
  Number.isInteger(value) && Math.abs(value) < 1e21 ? BigInt(value) : new Float(value);

const fromArray = (values: readonly unknown[], budget: Budget): Value => {
  budget.lists(values.length);
  return values.map((value) => fromJson(value, budget));
};

const fromObject = (value: object, budget: Budget): Value => {
  const dict = new Dict();
  for (const [key, item] of Object.entries(value)) {
    budget.step();
    dict.set(key, fromJson(item, budget));
  }
  return dict;
};
