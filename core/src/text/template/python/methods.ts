import { bind } from './arguments.js';
import { CASE_METHODS } from './case-methods.js';
import { same } from './compare.js';
import { ratioOf } from './decimal.js';
import { Dict, DictView } from './dict.js';
import { PythonError, typeError, valueError } from './error.js';
import { indexOf, int } from './numbers.js';
import { listOf, sliceBounds, valuesOf } from './sequences.js';
import { boundText, TEXT_METHODS, type TextMethod } from './text-methods.js';
import {
  Callable,
  Float,
  Markup,
  PythonObject,
  Range,
  Tuple,
  isInt,
  isList,
  isText,
  type Arguments,
  type Runtime,
  type Value,
} from './values.js';

type Method<T> = (self: T, args: Arguments, runtime: Runtime) => Value;
type Methods<T> = Readonly<Record<string, Method<T>>>;

const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

const textMethod = (name: string): TextMethod | undefined => own(TEXT_METHODS, name) ?? own(CASE_METHODS, name);

/** A method or attribute of a value, whatever the sandbox says of it; undefined: its type has none of that name. */
export const methodOf = (value: Value, name: string, runtime: Runtime): Value | undefined => {
  if (isText(value)) {
    const method = textMethod(name);
    if (method !== undefined) return boundText(value, name, method);
    return value instanceof Markup ? bound(MARKUP, value, name) : undefined;
  }
  if (value instanceof Dict) return bound(DICT, value, name);
  if (isList(value)) return bound(SEQUENCE, value, name) ?? bound(LIST, value, name);
  if (value instanceof Tuple) return bound(SEQUENCE, value.items, name) ?? value.attribute(name);
  if (value instanceof Float) return bound(FLOAT, value.value, name) ?? floatField(value, name);
  if (isInt(value)) return bound(INT, value, name) ?? intField(value, name);
  if (value instanceof Range) return bound(RANGE, value, name) ?? value.attribute(name);
  return value instanceof PythonObject ? value.attribute(name, runtime) : undefined;
};

const bound = <T>(methods: Methods<T>, self: T, name: string): Callable | undefined => {
  const method = own(methods, name);
  if (method === undefined) return undefined;
  return new Callable(name, (args, runtime) => {
    runtime.budget.step();
    return method(self, args, runtime);
  });
};

const MARKUP: Methods<Markup> = {
  striptags: (self, args, runtime) => {
    bind('striptags', args, [], 0);
    return runtime.filter('striptags', self, { positional: [], named: new Map() });
  },
  unescape: () => {
    throw typeError('unescape is not supported');
  },
};

const DICT: Methods<Dict> = {
  keys: (self, args) => view(self, 'dict_keys', args),
  values: (self, args) => view(self, 'dict_values', args),
  items: (self, args) => view(self, 'dict_items', args),
  get: (self, args) => {
    const [key, absent = null] = bind('get', args, ['', ''], 1);
    const value = self.get(key!);
    return value === undefined ? absent : value;
  },
  copy: (self, args, { budget }) => {
    bind('copy', args, [], 0);
    budget.lists(self.size);
    return new Dict(self.entries());
  },
  fromkeys: (_self, args, runtime) => fromKeys(args, runtime),
};

const view = (dict: Dict, name: DictView['typeName'], args: Arguments): DictView => {
  bind(name.slice('dict_'.length), args, [], 0);
  return new DictView(dict, name);
};

export const fromKeys = (args: Arguments, runtime: Runtime): Dict => {
  const [keys, value = null] = bind('fromkeys', args, ['', ''], 1);
  return new Dict(listOf(keys!, runtime).map((key) => [key, value]));
};

const placeIn = (self: Iterable<Value>, wanted: Value, { budget }: Runtime): number => {
  let index = 0;
  for (const item of self) {
    budget.step();
    if (same(item, wanted, budget)) return index;
    index++;
  }
  return -1;
};

const SEQUENCE: Methods<readonly Value[]> = {
  count: (self, args, { budget }) => {
    const [wanted] = bind('count', args, [''], 1);
    return self.filter((item) => {
      budget.step();
      return same(item, wanted!, budget);
    }).length;
  },
  index: (self, args, runtime) => {
    const [wanted, start = null, stop = null] = bind('index', args, ['', '', ''], 1);
    const bounds = sliceBounds(start, stop, null, self.length);
    const place = placeIn(self.slice(bounds.start, Math.max(bounds.start, bounds.stop)), wanted!, runtime);
    if (place < 0) throw valueError('the value is not in the list');
    return bounds.start + place;
  },
};

const LIST: Methods<readonly Value[]> = {
  copy: (self, args, { budget }) => {
    bind('copy', args, [], 0);
    budget.lists(self.length);
    return [...self];
  },
};

const RANGE: Methods<Range> = {
  count: (self, args, runtime) =>
    Number(placeIn(valuesOf(self, runtime), bind('count', args, [''], 1)[0]!, runtime) >= 0),
  index: (self, args, runtime) => {
    const place = placeIn(valuesOf(self, runtime), bind('index', args, [''], 1)[0]!, runtime);
    if (place < 0) throw valueError('the value is not in the range');
    return place;
  },
};

const FLOAT: Methods<number> = {
  is_integer: (self) => Number.isInteger(self),
  conjugate: (self) => new Float(self),
  as_integer_ratio: (self) => {
    if (!Number.isFinite(self)) throw new PythonError('OverflowError', 'cannot convert this float to an integer ratio');
    return new Tuple(ratioOf(self).map(int));
  },
};

const floatField = (value: Float, name: string): Value | undefined => {
  if (name === 'real') return value;
  return name === 'imag' ? new Float(0) : undefined;
};

const INT: Methods<number | bigint | boolean> = {
  bit_length: (self) => (Number(self) === 0 ? 0 : absolute(self).toString(2).length),
  bit_count: (self) => absolute(self).toString(2).replaceAll('0', '').length,
  conjugate: (self) => plainInt(self),
  as_integer_ratio: (self) => new Tuple([plainInt(self), 1]),
};

const absolute = (value: number | bigint | boolean): bigint => {
  const whole = BigInt(value);
  return whole < 0n ? -whole : whole;
};

const plainInt = (value: number | bigint | boolean): Value => (typeof value === 'boolean' ? indexOf(value) : value);

const intField = (value: number | bigint | boolean, name: string): Value | undefined => {
  if (name === 'real' || name === 'numerator') return plainInt(value);
  if (name === 'imag') return 0;
  return name === 'denominator' ? 1 : undefined;
};
