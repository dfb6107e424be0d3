import { getAttribute, hasAttribute } from '../python/attributes.js';
import { inOrder, same, sorted } from '../python/compare.js';
import { Dict, DictView } from '../python/dict.js';
import { PythonError, typeError } from '../python/error.js';
import { floorDivideInt, indexOf, modInt } from '../python/numbers.js';
import { binary } from '../python/operators.js';
import { isTrue, itemOf, iterate, len, listOf, sliceOf, valuesOf } from '../python/sequences.js';
import {
  Range,
  Stream,
  Tuple,
  Undefined,
  isList,
  isText,
  textOf,
  typeName,
  type Value,
  type Runtime,
} from '../python/values.js';
import { attributeGetter, attributesGetter, caseGetter, foldCase, type Getter } from './attribute-getter.js';
import { define, or } from './define.js';
import type { Filter } from './types.js';

const nothing = (what: string): Undefined => new Undefined(() => `No ${what} item, sequence was empty.`);

/** `reversed(value)` as a list; undefined: it cannot be read from its end. */
const reversedItems = (value: Value, runtime: Runtime): Value[] | undefined => {
  const canBe =
    isList(value) || isText(value) || [Tuple, Dict, DictView, Range, Undefined].some((type) => value instanceof type);
  return canBe ? listOf(value, runtime).reverse() : undefined;
};

const reverseName = (value: Value): string => {
  if (isList(value)) return 'list_reverseiterator';
  if (value instanceof Dict || value instanceof DictView) return 'dict_reversekeyiterator';
  return value instanceof Range ? 'range_iterator' : 'reversed';
};

const reverse = (value: Value, runtime: Runtime): Value => {
  if (isText(value)) return sliceOf(value, null, null, -1, runtime);
  const items = reversedItems(value, runtime);
  if (items !== undefined) return new Stream(items[Symbol.iterator](), reverseName(value));
  try {
    return listOf(value, runtime).reverse();
  } catch (error) {
    if (!(error instanceof PythonError && error.kind === 'TypeError')) throw error;
    throw new PythonError('FilterArgumentError', 'argument must be iterable');
  }
};

const first = (value: Value, runtime: Runtime): Value => {
  const next = iterate(value, runtime).next();
  return next.done === true ? nothing('first') : next.value;
};

const last = (value: Value, runtime: Runtime): Value => {
  const items = reversedItems(value, runtime);
  if (items === undefined) throw typeError(`'${typeName(value)}' object is not reversible`);
  return items.length === 0 ? nothing('last') : items[0]!;
};

const random = (value: Value, runtime: Runtime): Value => {
  const count = len(value, runtime);
  if (count === 0) return nothing('random');
  const item = itemOf(value, Math.floor(Math.random() * count), runtime);
  if (item === undefined) throw typeError(`no random item of a ${typeName(value)}`);
  return item;
};

/** The first of the least or greatest. */
const extreme =
  (name: 'min' | 'max'): Filter =>
  (value, args, runtime) =>
    define(name, ['case_sensitive', 'attribute'], 0, (of, [caseSensitive = false, attribute = null]) => {
      const key = caseGetter(attributeGetter(attribute, runtime), isTrue(caseSensitive, runtime));
      let best: { item: Value; key: Value } | null = null;
      for (const item of valuesOf(of, runtime)) {
        const own = key(item);
        if (best === null || inOrder(name === 'min' ? '<' : '>', own, best.key, runtime.budget))
          best = { item, key: own };
      }
      return best === null ? new Undefined(() => 'No aggregated item, sequence was empty.') : best.item;
    })(value, args, runtime);

const dictSort = (value: Value, sensitive: boolean, by: Value, reversed: boolean, runtime: Runtime): Value => {
  const place = isText(by) ? ['key', 'value'].indexOf(textOf(by)) : -1;
  if (place < 0) throw new PythonError('FilterArgumentError', 'You can only sort by either "key" or "value"');
  if (!(value instanceof Dict)) {
    if (value instanceof Undefined) value.fail();
    throw new PythonError('AttributeError', `'${typeName(value)}' object has no attribute 'items'`);
  }
  const pairs = [...value.entries()].map((entry) => new Tuple([...entry]));
  const key = ({ items }: Tuple): Value => {
    const own = items[place]!;
    return sensitive ? own : foldCase(own);
  };
  return sorted(pairs, key, reversed, runtime);
};

const unique = function* (value: Value, key: Getter, runtime: Runtime): Iterator<Value> {
  const seen = new Dict();
  for (const item of valuesOf(value, runtime)) {
    runtime.budget.step();
    const own = key(item);
    if (seen.has(own)) continue;
    seen.set(own, null);
    yield item;
  }
};

const groupBy = (value: Value, attribute: Value, fallback: Value, sensitive: boolean, runtime: Runtime): Value => {
  const plain = attributeGetter(attribute, runtime, fallback);
  const key = caseGetter(plain, sensitive);
  const groups: { key: Value; items: Value[] }[] = [];
  for (const item of sorted(listOf(value, runtime), key, false, runtime)) {
    const own = key(item);
    const group = groups.at(-1);
    if (group !== undefined && same(group.key, own, runtime.budget)) group.items.push(item);
    else groups.push({ key: own, items: [item] });
  }
  return groups.map(
    ({ items }) =>
      new Tuple([sensitive ? key(items[0]!) : plain(items[0]!), items], '_GroupTuple', ['grouper', 'list']),
  );
};

const sum = (value: Value, attribute: Value, start: Value, runtime: Runtime): Value => {
  if (isText(start)) throw typeError("sum() can't sum strings [use ''.join(seq) instead]");
  const read = attribute === null ? (item: Value): Value => item : attributeGetter(attribute, runtime);
  let total: Value = start;
  for (const item of valuesOf(value, runtime)) total = binary('+', total, read(item), runtime);
  return total;
};

/** Rows of so many items. */
const batch = function* (value: Value, count: Value, fill: Value, runtime: Runtime): Iterator<Value> {
  let row: Value[] = [];
  for (const item of valuesOf(value, runtime)) {
    runtime.budget.step();
    if (same(row.length, count, runtime.budget)) {
      yield row;
      row = [];
    }
    row.push(item);
  }
  if (row.length === 0) return;
  if (fill !== null && inOrder('<', row.length, count, runtime.budget)) {
    const missing = indexOf(binary('-', count, row.length, runtime));
    runtime.budget.lists(missing);
    row = [...row, ...Array.from({ length: missing }, () => fill)];
  }
  yield row;
};

/** So many columns. */
const slice = function* (value: Value, slices: Value, fill: Value, runtime: Runtime): Iterator<Value> {
  const items = listOf(value, runtime);
  const count = indexOf(slices);
  const each = Number(floorDivideInt(items.length, count));
  const longer = Number(modInt(items.length, count));
  let at = 0;
  for (let index = 0; index < count; index++) {
    runtime.budget.step();
    const size = each + (index < longer ? 1 : 0);
    const column = items.slice(at, at + size);
    at += size;
    if (fill !== null && index >= longer) column.push(fill);
    yield column;
  }
};

const itemsOf = function* (value: Value): Iterator<Value> {
  if (value instanceof Undefined) return;
  if (!(value instanceof Dict)) throw typeError('Can only get item pairs from a mapping.');
  for (const entry of value.entries()) yield new Tuple([...entry]);
};

const count = define('length', [], 0, (value, _, runtime) => len(value, runtime));

const absent: Filter = define(
  'default',
  ['default_value', 'boolean'],
  0,
  (value, [given, boolean = false], runtime) => {
    const isAbsent = value instanceof Undefined || (isTrue(boolean, runtime) && !isTrue(value, runtime));
    return isAbsent ? or(given, '') : value;
  },
);

export const LIST_FILTERS: Readonly<Record<string, Filter>> = {
  length: count,
  count,
  default: absent,
  d: absent,
  list: define('list', [], 0, (value, _, runtime) => listOf(value, runtime)),
  first: define('first', [], 0, (value, _, runtime) => first(value, runtime)),
  last: define('last', [], 0, (value, _, runtime) => last(value, runtime)),
  random: define('random', [], 0, (value, _, runtime) => random(value, runtime)),
  reverse: define('reverse', [], 0, (value, _, runtime) => reverse(value, runtime)),
  min: extreme('min'),
  max: extreme('max'),
  sort: define(
    'sort',
    ['reverse', 'case_sensitive', 'attribute'],
    0,
    (value, [down, caseSensitive, attribute], runtime) => {
      const key = attributesGetter(or(attribute, null), isTrue(or(caseSensitive, false), runtime), runtime);
      return sorted(listOf(value, runtime), key, isTrue(or(down, false), runtime), runtime);
    },
  ),
  dictsort: define('dictsort', ['case_sensitive', 'by', 'reverse'], 0, (value, [caseSensitive, by, down], runtime) =>
    dictSort(
      value,
      isTrue(or(caseSensitive, false), runtime),
      or(by, 'key'),
      isTrue(or(down, false), runtime),
      runtime,
    ),
  ),
  unique: define('unique', ['case_sensitive', 'attribute'], 0, (value, [caseSensitive, attribute], runtime) => {
    const read = attributeGetter(or(attribute, null), runtime);
    return new Stream(unique(value, caseGetter(read, isTrue(or(caseSensitive, false), runtime)), runtime));
  }),
  groupby: define(
    'groupby',
    ['attribute', 'default', 'case_sensitive'],
    1,
    (value, [attribute, fallback, sensitive], runtime) =>
      groupBy(value, attribute!, or(fallback, null), isTrue(or(sensitive, false), runtime), runtime),
  ),
  sum: define('sum', ['attribute', 'start'], 0, (value, [attribute, start], runtime) =>
    sum(value, or(attribute, null), or(start, 0), runtime),
  ),
  batch: define(
    'batch',
    ['linecount', 'fill_with'],
    1,
    (value, [size, fill], runtime) => new Stream(batch(value, size!, or(fill, null), runtime)),
  ),
  slice: define(
    'slice',
    ['slices', 'fill_with'],
    1,
    (value, [slices, fill], runtime) => new Stream(slice(value, slices!, or(fill, null), runtime)),
  ),
  items: define('items', [], 0, (value) => new Stream(itemsOf(value))),
  attr: define('attr', ['name'], 1, (value, [name], runtime) => {
    if (!isText(name!)) throw typeError('attribute name must be string');
    const known = hasAttribute(value, textOf(name), runtime);
    if (!known && value instanceof Undefined) value.fail();
    if (known) return getAttribute(value, textOf(name), runtime);
    return new Undefined(() => `'${typeName(value)}' object has no attribute '${textOf(name)}'`);
  }),
};
