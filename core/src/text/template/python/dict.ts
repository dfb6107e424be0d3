import { typeError } from './error.js';
import { Float, Markup, PythonObject, Range, Tuple, Undefined, isList, typeName, type Value } from './values.js';

/** A key in a form in which JavaScript compares as Python does: 1, 1.0 and True are one. */
type Key = unknown;

const UNDEFINED = Symbol('Undefined');

const keyOf = (value: Value): Key => {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return Number(value);
  if (value === null || typeof value !== 'object') return value;
  if (isList(value) || value instanceof Dict) throw typeError(`unhashable type: '${typeName(value)}'`);
  if (value instanceof Markup) return value.text;
  if (value instanceof Float) return Number.isInteger(value.value) ? integerKey(value.value) : value.value;
  if (value instanceof Undefined) return UNDEFINED;
  if (value instanceof Tuple) return tupleKey(value);
  if (value instanceof Range) return `range\u0000${value.start}\u0000${value.count}\u0000${value.step}`;
  return value;
};

const integerKey = (value: number): Key => (Number.isSafeInteger(value) ? value : BigInt(value));

/** Objects that have no text form are told apart by number. */
const OBJECTS = new WeakMap();
let objects = 0;

const tupleKey = ({ items }: Tuple): string => {
  const parts = items.map((item) => {
    const key = keyOf(item);
    if (typeof key !== 'object' || key === null) return `${typeof key}:${String(key).length}:${String(key)}`;
    if (!OBJECTS.has(key)) OBJECTS.set(key, objects++);
    return `object:${OBJECTS.get(key)}`;
  });
  return `\u0000tuple(${parts.join(',')})`;
};

export class Dict extends PythonObject {
  readonly typeName = 'dict';
  readonly #entries = new Map<Key, [Value, Value]>();

  constructor(entries: Iterable<readonly [Value, Value]> = []) {
    super();
    for (const [key, value] of entries) this.set(key, value);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** TypeError: a key that is no key (a list). */
  get(key: Value): Value | undefined {
    return this.#entries.get(keyOf(key))?.[1];
  }

  has(key: Value): boolean {
    return this.#entries.has(keyOf(key));
  }

  /** The key that was there first stays. */
  set(key: Value, value: Value): void {
    const form = keyOf(key);
    const entry = this.#entries.get(form);
    if (entry === undefined) this.#entries.set(form, [key, value]);
    else entry[1] = value;
  }

  entries(): IterableIterator<[Value, Value]> {
    return this.#entries.values();
  }

  *keys(): IterableIterator<Value> {
    for (const [key] of this.#entries.values()) yield key;
  }

  *values(): IterableIterator<Value> {
    for (const [, value] of this.#entries.values()) yield value;
  }

  override length(): number {
    return this.size;
  }

  override iterate(): Iterator<Value> {
    return this.keys();
  }

  override item(key: Value): Value | undefined {
    return isList(key) || key instanceof Dict ? undefined : this.get(key);
  }
}

/** `d.keys()`, `d.values()`, `d.items()`. */
export class DictView extends PythonObject {
  readonly typeName: 'dict_keys' | 'dict_values' | 'dict_items';
  readonly dict: Dict;
  constructor(dict: Dict, typeName: DictView['typeName']) {
    super();
    this.dict = dict;
    this.typeName = typeName;
  }
  override length(): number {
    return this.dict.size;
  }
  override iterate(): Iterator<Value> {
    if (this.typeName === 'dict_keys') return this.dict.keys();
    return this.typeName === 'dict_values' ? this.dict.values() : itemsOf(this.dict);
  }
  override attribute(name: string): Value | undefined {
    return name === 'mapping' ? this.dict : undefined;
  }
}

const itemsOf = function* (dict: Dict): Iterator<Value> {
  for (const entry of dict.entries()) yield new Tuple([...entry]);
};
