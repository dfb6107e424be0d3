import type { Budget } from '../limits.js';
import { PythonError, type ErrorKind } from './error.js';

/**
 * Python's values. `int` is a number if that holds it exactly, else a bigint; `float` is a `Float`; `str` a string;
 * `list` an array; `None` is null. Everything that has no short form here is a `PythonObject`.
 */
export type Value = null | boolean | number | bigint | string | readonly Value[] | PythonObject;

/** Stands where a name has no value yet. */
export const MISSING: unique symbol = Symbol('missing');

export type Missing = typeof MISSING;

/** Arguments of a call. */
export interface Arguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

/** What filters, tests and methods are given beside their arguments. */
export interface Runtime {
  readonly budget: Budget;
  /** Inside `{% autoescape true %}`. */
  autoescape: boolean;
  /** The clock of `strftime_now`. */
  readonly now: Date;
  /** Of the template, where it runs. */
  line: number;
  filter(name: Value, value: Value, args: Arguments): Value;
  test(name: Value, value: Value, args: Arguments): boolean;
}

/** A value with a type of its own. What it does not say, its type does not have. */
export abstract class PythonObject {
  /** `type(x).__name__`. */
  abstract readonly typeName: string;
  /** Where its type comes from, as jinja2 names it in messages; empty: from Python itself. */
  readonly module: string = '';
  /** `getattr`. */
  attribute(_name: string, _runtime: Runtime): Value | undefined {
    return undefined;
  }
  /** `obj[key]`; undefined: no such item, or no items at all. */
  item(_key: Value, _runtime: Runtime): Value | undefined {
    return undefined;
  }
  /** undefined: it cannot be iterated. */
  iterate(_runtime: Runtime): Iterator<Value> | undefined {
    return undefined;
  }
  /** undefined: it has no length. */
  length(_runtime: Runtime): number | undefined {
    return undefined;
  }
  isTrue(runtime: Runtime): boolean {
    return this.length(runtime) !== 0;
  }
  /** null: `<name object at 0x…>`, which no two runs of Python print alike. */
  repr(_runtime: Runtime): string | null {
    return null;
  }
  /** null: as `repr`. */
  str(_runtime: Runtime): string | null {
    return null;
  }
  /** undefined: it cannot be called. */
  readonly call?: (args: Arguments, runtime: Runtime) => Value;
}

export class Float extends PythonObject {
  readonly typeName = 'float';
  readonly value: number;
  constructor(value: number) {
    super();
    this.value = value;
  }
  override isTrue(): boolean {
    return this.value !== 0;
  }
}

/** A text that says that it is HTML; what is joined to it is escaped. */
export class Markup extends PythonObject {
  readonly typeName = 'Markup';
  override readonly module = 'markupsafe';
  readonly text: string;
  constructor(text: string) {
    super();
    this.text = text;
  }
  override isTrue(): boolean {
    return this.text !== '';
  }
}

export class Tuple extends PythonObject {
  readonly typeName: string;
  readonly items: readonly Value[];
  /** Of named tuples. */
  readonly fields: readonly string[];
  constructor(items: readonly Value[], typeName = 'tuple', fields: readonly string[] = []) {
    super();
    this.items = items;
    this.typeName = typeName;
    this.fields = fields;
  }
  override isTrue(): boolean {
    return this.items.length > 0;
  }
  override attribute(name: string): Value | undefined {
    const at = this.fields.indexOf(name);
    return at < 0 ? undefined : this.items[at];
  }
}

/** What a name, an attribute or an item is that is not there. Printing it gives nothing, most else is an error. */
export class Undefined extends PythonObject {
  readonly typeName = 'Undefined';
  override readonly module = 'jinja2.runtime';
  readonly message: () => string;
  readonly kind: ErrorKind;
  constructor(message: () => string, kind: ErrorKind = 'UndefinedError') {
    super();
    this.message = message;
    this.kind = kind;
  }
  /** What any use but printing, testing and looping comes to. */
  fail(): never {
    throw new PythonError(this.kind, this.message());
  }
  override iterate(): Iterator<Value> {
    return [][Symbol.iterator]();
  }
  override length(): number {
    return 0;
  }
  override repr(): string {
    return 'Undefined';
  }
  override str(): string {
    return '';
  }
  override attribute(): never {
    return this.fail();
  }
  override item(): never {
    return this.fail();
  }
  override readonly call = (): never => this.fail();
}

export const undefinedName = (name: string): Undefined => new Undefined(() => `'${name}' is undefined`);

/** A function or method. */
export class Callable extends PythonObject {
  readonly typeName: string;
  readonly name: string;
  override readonly call: (args: Arguments, runtime: Runtime) => Value;
  constructor(
    name: string,
    call: (args: Arguments, runtime: Runtime) => Value,
    typeName = 'builtin_function_or_method',
  ) {
    super();
    this.name = name;
    this.typeName = typeName;
    this.call = call;
  }
}

/** Something that gives values one after the other, once. */
export class Stream extends PythonObject {
  readonly typeName: string;
  readonly #iterator: Iterator<Value>;
  constructor(iterator: Iterator<Value>, typeName = 'generator') {
    super();
    this.#iterator = iterator;
    this.typeName = typeName;
  }
  override isTrue(): boolean {
    return true;
  }
  override iterate(): Iterator<Value> {
    return this.#iterator;
  }
}

export class Range extends PythonObject {
  readonly typeName = 'range';
  readonly start: number;
  readonly stop: number;
  readonly step: number;
  readonly count: number;
  constructor(start: number, stop: number, step: number) {
    super();
    this.start = start;
    this.stop = stop;
    this.step = step;
    this.count = Math.max(0, Math.ceil((stop - start) / step));
  }
  at(index: number): number {
    return this.start + index * this.step;
  }
  override length(): number {
    return this.count;
  }
  override *iterate(): Iterator<Value> {
    for (let index = 0; index < this.count; index++) yield this.at(index);
  }
  override attribute(name: string): Value | undefined {
    return name === 'start' || name === 'stop' || name === 'step' ? this[name] : undefined;
  }
  override repr(): string {
    return `range(${this.start}, ${this.stop}${this.step === 1 ? '' : `, ${this.step}`})`;
  }
}

export const isText = (value: Value): value is string | Markup => typeof value === 'string' || value instanceof Markup;

/** Of a value that `isText`. */
export const textOf = (value: string | Markup): string => (typeof value === 'string' ? value : value.text);

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

/** `bool` is an int too. */
export const isInt = (value: Value): value is number | bigint | boolean =>
  typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean';

export const NO_ARGUMENTS: Arguments = { positional: [], named: new Map() };

/** `type(value).__name__`. */
export const typeName = (value: Value): string => {
  if (value === null) return 'NoneType';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number' || typeof value === 'bigint') return 'int';
  return isList(value) ? 'list' : value.typeName;
};

/** As jinja2 names a value's type in a message. */
export const objectName = (value: Value): string => {
  if (value === null) return 'None';
  const module = value instanceof PythonObject && value.module !== '' ? `${value.module}.` : '';
  return `${module}${typeName(value)} object`;
};
