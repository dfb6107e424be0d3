import { Dict } from './dict.js';
import { methodOf } from './methods.js';
import { itemOf } from './sequences.js';
import { repr } from './text-form.js';
import {
  Callable,
  Tuple,
  Undefined,
  isInt,
  isList,
  isText,
  objectName,
  textOf,
  typeName,
  type Runtime,
  type Value,
} from './values.js';

/** Attributes that every Python object has, and no template may see. */
const OF_ALL = new Set(
  [
    ...['class', 'delattr', 'dir', 'doc', 'eq', 'format', 'ge', 'getattribute', 'getstate', 'gt', 'hash', 'init'],
    ...['init_subclass', 'le', 'lt', 'ne', 'new', 'reduce', 'reduce_ex', 'repr', 'setattr', 'sizeof', 'str'],
    'subclasshook',
  ].map((name) => `__${name}__`),
);

const hidden = (...names: string[]): Set<string> => new Set(names.map((name) => `__${name}__`));
const OF_SEQUENCES = hidden('add', 'contains', 'getitem', 'getnewargs', 'iter', 'len', 'mul', 'rmul', 'mod', 'rmod');
const OF_CALLABLES = hidden('call', 'name', 'qualname', 'self', 'module', 'text_signature', 'func', 'code', 'globals');
const OF_NUMBERS = hidden('add', 'abs', 'bool', 'int', 'float', 'mul', 'sub', 'neg', 'pos', 'pow', 'mod', 'truediv');

/** What changes a list or dict in place; the sandbox gives it to no template. */
const OF_LISTS = new Set(['append', 'clear', 'pop', 'reverse', 'insert', 'sort', 'extend', 'remove']);
const OF_DICTS = new Set(['clear', 'pop', 'popitem', 'setdefault', 'update']);

const isHidden = (value: Value, name: string): boolean => {
  if (!name.startsWith('__')) return false;
  if (value instanceof Undefined) return OF_ALL.has(name) || OF_SEQUENCES.has(name);
  if (OF_ALL.has(name)) return true;
  if (isText(value) || isList(value) || value instanceof Dict || value instanceof Tuple) return OF_SEQUENCES.has(name);
  if (value instanceof Callable) return OF_CALLABLES.has(name);
  return isInt(value) && OF_NUMBERS.has(name);
};

/** `getattr(value, name)` behind the sandbox; undefined: there is no such attribute. */
const attributeOf = (value: Value, name: string, runtime: Runtime): Value | undefined => {
  if (isHidden(value, name)) return unsafe(value, name);
  if ((isList(value) && OF_LISTS.has(name)) || (value instanceof Dict && OF_DICTS.has(name)))
    return unsafe(value, name);
  // Undefined says so itself.
  return value instanceof Undefined ? undefined : methodOf(value, name, runtime);
};

const unsafe = (value: Value, name: string): Undefined =>
  new Undefined(() => `access to attribute '${name}' of '${typeName(value)}' object is unsafe.`, 'SecurityError');

const absent = (value: Value, key: Value, runtime: Runtime): Undefined =>
  new Undefined(() =>
    typeof key === 'string'
      ? `'${objectName(value)}' has no attribute ${repr(key, runtime)}`
      : `${objectName(value)} has no element ${repr(key, runtime)}`,
  );

/** `value.name`: an attribute, else an item. */
export const getAttribute = (value: Value, name: string, runtime: Runtime): Value => {
  const attribute = attributeOf(value, name, runtime);
  if (attribute !== undefined) return attribute;
  const item = itemOf(value, name, runtime);
  return item === undefined ? absent(value, name, runtime) : item;
};

/** `value[key]`: an item, else an attribute. */
export const getItem = (value: Value, key: Value, runtime: Runtime): Value => {
  const item = itemOf(value, key, runtime);
  if (item !== undefined) return item;
  const attribute = isText(key) ? attributeOf(value, textOf(key), runtime) : undefined;
  return attribute === undefined ? absent(value, key, runtime) : attribute;
};

/** Whether Python's `hasattr` would say so. */
export const hasAttribute = (value: Value, name: string, runtime: Runtime): boolean =>
  attributeOf(value, name, runtime) !== undefined;
