import { characterAt, charactersOf, isPlain, lengthOf } from './characters.js';
import { same } from './compare.js';
import { Dict, DictView } from './dict.js';
import { typeError, valueError } from './error.js';
import { indexOf } from './numbers.js';
import {
  Markup,
  PythonObject,
  Range,
  Tuple,
  Undefined,
  isInt,
  isList,
  isText,
  textOf,
  typeName,
  type Runtime,
  type Value,
} from './values.js';

/** `iter(value)`; TypeError: it has no items. */
export const iterate = (value: Value, runtime: Runtime): Iterator<Value> => {
  if (isList(value)) return value[Symbol.iterator]();
  if (isText(value)) return charactersIn(value, runtime);
  if (value instanceof Tuple) return value.items[Symbol.iterator]();
  const iterator = value instanceof PythonObject ? value.iterate(runtime) : undefined;
  if (iterator === undefined) throw typeError(`'${typeName(value)}' object is not iterable`);
  return iterator;
};

const charactersIn = (value: string | Markup, { budget }: Runtime): Iterator<Value> => {
  const text = textOf(value);
  budget.reads(text.length);
  return isPlain(text) ? unitsIn(text) : text[Symbol.iterator]();
};

const unitsIn = function* (text: string): Iterator<Value> {
  for (let index = 0; index < text.length; index++) yield text[index]!;
};

/** The values that a value has, to be walked through in a `for`. */
export const valuesOf = (value: Value, runtime: Runtime): Iterable<Value> => {
  const iterator = iterate(value, runtime);
  return { [Symbol.iterator]: () => iterator };
};

/** `list(value)`. */
export const listOf = (value: Value, runtime: Runtime): Value[] => {
  const items: Value[] = [];
  for (const item of valuesOf(value, runtime)) {
    runtime.budget.grows(items.push(item));
  }
  return items;
};

/** undefined: it has no length. */
export const lengthIfAny = (value: Value, runtime: Runtime): number | undefined => {
  if (isList(value)) return value.length;
  if (isText(value)) {
    const text = textOf(value);
    runtime.budget.reads(text.length);
    return lengthOf(text);
  }
  if (value instanceof Tuple) return value.items.length;
  return value instanceof PythonObject ? value.length(runtime) : undefined;
};

/** `len(value)`. */
export const len = (value: Value, runtime: Runtime): number => {
  const length = lengthIfAny(value, runtime);
  if (length === undefined) throw typeError(`object of type '${typeName(value)}' has no len()`);
  return length;
};

/** `bool(value)`. */
export const isTrue = (value: Value, runtime: Runtime): boolean => {
  if (value === null || value === false || value === 0 || value === '') return false;
  if (typeof value !== 'object') return true;
  return isList(value) ? value.length > 0 : value.isTrue(runtime);
};

/** `value[key]`; undefined: what Python calls a TypeError or a LookupError. */
export const itemOf = (value: Value, key: Value, runtime: Runtime): Value | undefined => {
  if (value instanceof Dict) return value.item(key);
  if (isList(value)) return isInt(key) ? value[placeOf(indexOf(key), value.length)] : undefined;
  if (isText(value)) {
    if (!isInt(key)) return undefined;
    const text = textOf(value);
    runtime.budget.reads(text.length);
    const place = placeOf(indexOf(key), lengthOf(text));
    return place < 0 ? undefined : likewise(value, characterAt(text, place));
  }
  if (value instanceof Tuple) return isInt(key) ? value.items[placeOf(indexOf(key), value.items.length)] : undefined;
  if (value instanceof Range) {
    const place = isInt(key) ? placeOf(indexOf(key), value.count) : -1;
    return place < 0 ? undefined : value.at(place);
  }
  return value instanceof PythonObject ? value.item(key, runtime) : undefined;
};

/** -1: outside. */
const placeOf = (index: number, length: number): number => {
  const place = index < 0 ? index + length : index;
  return place >= 0 && place < length ? place : -1;
};

/** A text as safe as another. */
export const likewise = (like: Value, text: string): Value => (like instanceof Markup ? new Markup(text) : text);

/** Start, stop and step for a length, as `slice.indices` gives them. */
export const sliceBounds = (
  start: Value,
  stop: Value,
  step: Value,
  length: number,
): {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
} => {
  const index = (value: Value, absent: number): number =>
    value === null ? absent : indexOf(value, 'slice indices must be integers or None or have an __index__ method');
  const by = index(step, 1);
  if (by === 0) throw valueError('slice step cannot be zero');
  const [low, high] = by > 0 ? [0, length] : [-1, length - 1];
  const clamp = (at: number): number => Math.min(high, Math.max(low, at < 0 ? at + length : at));
  const from = start === null ? (by > 0 ? low : high) : clamp(index(start, 0));
  const to = stop === null ? (by > 0 ? high : low) : clamp(index(stop, 0));
  return { start: from, stop: to, step: by };
};

const pick = <T>(items: ArrayLike<T>, start: number, stop: number, step: number): T[] => {
  const picked: T[] = [];
  if (step > 0) for (let index = start; index < stop; index += step) picked.push(items[index]!);
  else for (let index = start; index > stop; index += step) picked.push(items[index]!);
  return picked;
};

/** `value[start:stop:step]`. */
export const sliceOf = (value: Value, start: Value, stop: Value, step: Value, runtime: Runtime): Value => {
  if (isList(value)) {
    runtime.budget.lists(value.length);
    const bounds = sliceBounds(start, stop, step, value.length);
    return pick(value, bounds.start, bounds.stop, bounds.step);
  }
  if (isText(value)) {
    const text = textOf(value);
    runtime.budget.makes(text.length);
    const plain = isPlain(text);
    const characters = plain ? text : charactersOf(text);
    const bounds = sliceBounds(start, stop, step, characters.length);
    if (plain && bounds.step === 1)
      return likewise(value, text.slice(bounds.start, Math.max(bounds.start, bounds.stop)));
    return likewise(value, pick(characters, bounds.start, bounds.stop, bounds.step).join(''));
  }
  if (value instanceof Tuple) {
    const bounds = sliceBounds(start, stop, step, value.items.length);
    return new Tuple(pick(value.items, bounds.start, bounds.stop, bounds.step));
  }
  if (value instanceof Range) {
    const bounds = sliceBounds(start, stop, step, value.count);
    return new Range(value.at(bounds.start), value.at(bounds.stop), value.step * bounds.step);
  }
  if (value instanceof Undefined) return value.fail();
  if (value instanceof Dict) throw typeError("unhashable type: 'slice'");
  throw typeError(`'${typeName(value)}' object is not subscriptable`);
};

/** `needle in value`. */
export const contains = (value: Value, needle: Value, runtime: Runtime): boolean => {
  const { budget } = runtime;
  if (isText(value)) {
    if (!isText(needle)) {
      if (needle instanceof Undefined) throw typeError("'in <string>' requires string as left operand, not Undefined");
      throw typeError(`'in <string>' requires string as left operand, not ${typeName(needle)}`);
    }
    budget.reads(textOf(value).length);
    return textOf(value).includes(textOf(needle));
  }
  if (value instanceof Dict) return value.has(needle);
  if (value instanceof DictView && value.typeName === 'dict_keys') return value.dict.has(needle);
  if (!isList(value) && !(value instanceof PythonObject && value.iterate(runtime)) && !(value instanceof Tuple)) {
    throw typeError(`argument of type '${typeName(value)}' is not iterable`);
  }
  for (const item of valuesOf(value, runtime)) {
    budget.step();
    if (same(item, needle, budget)) return true;
  }
  return false;
};
