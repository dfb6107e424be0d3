import { bind } from '../python/arguments.js';
import { isInCase, NOT_LOWER, NOT_UPPER } from '../python/case-methods.js';
import { equals, inOrder, type Order } from '../python/compare.js';
import { Dict } from '../python/dict.js';
import { PythonError } from '../python/error.js';
import { numberOf } from '../python/numbers.js';
import { binary } from '../python/operators.js';
import { contains, iterate, lengthIfAny } from '../python/sequences.js';
import { str } from '../python/text-form.js';
import {
  Float,
  Markup,
  PythonObject,
  Range,
  Tuple,
  Undefined,
  isInt,
  isList,
  isText,
  type Value,
  type Runtime,
} from '../python/values.js';
import type { Test } from './types.js';

const alone =
  (name: string, test: (value: Value, runtime: Runtime) => boolean): Test =>
  (value, args, runtime) => {
    bind(name, args, [], 0);
    return test(value, runtime);
  };

const withOther =
  (name: string, param: string, test: (value: Value, other: Value, runtime: Runtime) => boolean): Test =>
  (value, args, runtime) =>
    test(value, bind(name, args, [param], 1)[0]!, runtime);

const remainder = (value: Value, by: Value, wanted: number, runtime: Runtime): boolean =>
  equals(binary('%', value, by, runtime), wanted, runtime.budget);

const isSequence = (value: Value, runtime: Runtime): boolean => {
  const hasItems =
    isText(value) || isList(value) || [Tuple, Dict, Range, Undefined].some((type) => value instanceof type);
  return hasItems && lengthIfAny(value, runtime) !== undefined;
};

const isIterable = (value: Value, runtime: Runtime): boolean => {
  try {
    iterate(value, runtime);
    return true;
  } catch (error) {
    if (error instanceof PythonError && error.kind === 'TypeError') return false;
    throw error;
  }
};

const ordered = (name: string, op: Order): Test =>
  withOther(name, '', (value, other, { budget }) => inOrder(op, value, other, budget));

const equal = withOther('eq', '', (value, other, { budget }) => equals(value, other, budget));
const unequal = withOther('ne', '', (value, other, { budget }) => !equals(value, other, budget));

const isSame = (value: Value, other: Value): boolean =>
  Object.is(value, other) || (value instanceof Undefined && other instanceof Undefined && value === other);

/** `is filter` and `is test` come from the environment. */
export const TESTS: Readonly<Record<string, Test>> = {
  odd: alone('odd', (value, runtime) => remainder(value, 2, 1, runtime)),
  even: alone('even', (value, runtime) => remainder(value, 2, 0, runtime)),
  divisibleby: withOther('divisibleby', 'num', (value, by, runtime) => remainder(value, by, 0, runtime)),
  defined: alone('defined', (value) => !(value instanceof Undefined)),
  undefined: alone('undefined', (value) => value instanceof Undefined),
  none: alone('none', (value) => value === null),
  boolean: alone('boolean', (value) => typeof value === 'boolean'),
  false: alone('false', (value) => value === false),
  true: alone('true', (value) => value === true),
  integer: alone('integer', (value) => isInt(value) && typeof value !== 'boolean'),
  float: alone('float', (value) => value instanceof Float),
  number: alone('number', (value) => numberOf(value) !== undefined),
  lower: alone('lower', (value, runtime) => isInCase(str(value, runtime), NOT_LOWER)),
  upper: alone('upper', (value, runtime) => isInCase(str(value, runtime), NOT_UPPER)),
  string: alone('string', isText),
  mapping: alone('mapping', (value) => value instanceof Dict),
  sequence: alone('sequence', isSequence),
  iterable: alone('iterable', isIterable),
  callable: alone('callable', (value) => value instanceof PythonObject && value.call !== undefined),
  sameas: withOther('sameas', 'other', isSame),
  escaped: alone('escaped', (value) => value instanceof Markup),
  in: withOther('in', 'seq', (value, other, runtime) => contains(other, value, runtime)),
  '==': equal,
  eq: equal,
  equalto: equal,
  '!=': unequal,
  ne: unequal,
  '>': ordered('gt', '>'),
  gt: ordered('gt', '>'),
  greaterthan: ordered('gt', '>'),
  '>=': ordered('ge', '>='),
  ge: ordered('ge', '>='),
  '<': ordered('lt', '<'),
  lt: ordered('lt', '<'),
  lessthan: ordered('lt', '<'),
  '<=': ordered('le', '<='),
  le: ordered('le', '<='),
};
