import type { Budget } from '../limits.js';
import { compareTexts } from './characters.js';
import { Dict, DictView } from './dict.js';
import { typeError } from './error.js';
import { compareNumbers, numberOf } from './numbers.js';
import { Range, Tuple, Undefined, isList, isText, textOf, typeName, type Runtime, type Value } from './values.js';

/** `left == right`. */
export const equals = (left: Value, right: Value, budget: Budget): boolean => {
  if (left === right) return !Number.isNaN(left);
  if (isText(left)) {
    if (!isText(right)) return false;
    const [a, b] = [textOf(left), textOf(right)];
    if (a.length === b.length) budget.reads(a.length);
    return a === b;
  }
  const a = numberOf(left);
  if (a !== undefined) {
    const b = numberOf(right);
    return b !== undefined && compareNumbers(a, b) === 0;
  }
  if (isList(left)) return isList(right) && sameItems(left, right, budget);
  if (left instanceof Tuple) return right instanceof Tuple && sameItems(left.items, right.items, budget);
  if (left instanceof Dict) return right instanceof Dict && sameDicts(left, right, budget);
  if (left instanceof Undefined) return right instanceof Undefined;
  if (left instanceof Range) return right instanceof Range && sameRanges(left, right);
  if (left instanceof DictView) return right instanceof DictView && sameViews(left, right, budget);
  return false;
};

/** `a is b or a == b`, as items of lists are compared. */
export const same = (left: Value, right: Value, budget: Budget): boolean =>
  Object.is(left, right) || equals(left, right, budget);

const sameItems = (left: readonly Value[], right: readonly Value[], budget: Budget): boolean => {
  if (left.length !== right.length) return false;
  budget.enter();
  let equal = true;
  for (let index = 0; equal && index < left.length; index++) {
    budget.step();
    equal = same(left[index]!, right[index]!, budget);
  }
  budget.leave();
  return equal;
};

const sameDicts = (left: Dict, right: Dict, budget: Budget): boolean => {
  if (left.size !== right.size) return false;
  budget.enter();
  let equal = true;
  for (const [key, value] of left.entries()) {
    budget.step();
    const other = right.get(key);
    equal = other !== undefined && same(value, other, budget);
    if (!equal) break;
  }
  budget.leave();
  return equal;
};

const sameRanges = (left: Range, right: Range): boolean =>
  left.count === right.count &&
  (left.count === 0 || (left.start === right.start && (left.count === 1 || left.step === right.step)));

const sameViews = (left: DictView, right: DictView, budget: Budget): boolean => {
  if (left.typeName === 'dict_values' || left.typeName !== right.typeName) return left === right;
  if (left.typeName === 'dict_items') return sameDicts(left.dict, right.dict, budget);
  return left.dict.size === right.dict.size && [...left.dict.keys()].every((key) => right.dict.has(key));
};

export type Order = '<' | '<=' | '>' | '>=';

/** `left < right` and its kin; TypeError: values that have no order. */
export const inOrder = (op: Order, left: Value, right: Value, budget: Budget): boolean => {
  const order = orderOf(op, left, right, budget);
  if (op === '<') return order < 0;
  if (op === '<=') return order <= 0;
  return op === '>' ? order > 0 : order >= 0;
};

/** Below 0, 0, above 0, or NaN. */
const orderOf = (op: Order, left: Value, right: Value, budget: Budget): number => {
  if (isText(left) && isText(right)) {
    budget.reads(Math.min(textOf(left).length, textOf(right).length));
    return compareTexts(textOf(left), textOf(right));
  }
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== undefined && b !== undefined) return compareNumbers(a, b);
  if (isList(left) && isList(right)) return orderOfItems(op, left, right, budget);
  if (left instanceof Tuple && right instanceof Tuple) return orderOfItems(op, left.items, right.items, budget);
  if (left instanceof Undefined) return left.fail();
  if (right instanceof Undefined) return right.fail();
  throw typeError(`'${op}' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`);
};

const orderOfItems = (op: Order, left: readonly Value[], right: readonly Value[], budget: Budget): number => {
  budget.enter();
  let order: number | null = null;
  for (let index = 0; order === null && index < Math.min(left.length, right.length); index++) {
    budget.step();
    const [a, b] = [left[index], right[index]];
    if (!same(a!, b!, budget)) order = orderOf(op, a!, b!, budget);
  }
  budget.leave();
  return order ?? left.length - right.length;
};

/** `sorted(items, key=…)`: stable, and only `<` is asked. */
export const sorted = <T extends Value>(
  items: readonly T[],
  key: (item: T) => Value,
  reverse: boolean,
  { budget }: Runtime,
): T[] => {
  budget.lists(items.length);
  const pairs = items.map((item) => [key(item), item] as const);
  if (reverse) pairs.reverse();
  const before = (a: Value, b: Value): boolean => {
    budget.step();
    return inOrder('<', a, b, budget);
  };
  pairs.sort(([a], [b]) => (before(a, b) ? -1 : before(b, a) ? 1 : 0));
  if (reverse) pairs.reverse();
  return pairs.map(([, item]) => item);
};
