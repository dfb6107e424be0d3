import type { JSONSchema } from '@kvad/schemas';
import { isObject } from './config-source.js';

export interface AcceptOptions {
  /** Other schemas that references may name, by `$id`. */
  readonly shared?: ReadonlyMap<string, JSONSchema>;
  /** Fill the `default`s of absent properties into the value, as ajv's `useDefaults` does. */
  readonly useDefaults?: boolean;
}

/**
 * Whether a value is valid by a JSON Schema, read as it stands: true is what ajv would say as well. False means "no, or
 * not known here" (a keyword that this does not read): then ajv has the word, and says why. Compiling a schema takes
 * longer than everything else that opening a model does with it, and almost every value that is checked is valid.
 */
export const accepts = (schema: JSONSchema, value: unknown, options: AcceptOptions = {}): boolean => {
  try {
    return new Reading(schema, options).holds(schema, value, false);
  } catch (error) {
    if (error instanceof NotKnown) return false;
    throw error;
  }
};

class NotKnown extends Error {}

/** Keywords that check nothing, or that others look up. */
const SILENT: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$defs',
  '$comment',
  'title',
  'description',
  'examples',
  'default',
]);

const ON_OBJECTS: ReadonlySet<string> = new Set(['required', 'properties', 'additionalProperties']);

class Reading {
  readonly #root: JSONSchema;
  readonly #options: AcceptOptions;

  constructor(root: JSONSchema, options: AcceptOptions) {
    this.#root = root;
    this.#options = options;
  }

  /** `within`: inside of a union, where ajv's rules about defaults differ. */
  holds(schema: unknown, value: unknown, within: boolean): boolean {
    if (typeof schema === 'boolean') return schema;
    if (!isObject(schema)) throw new NotKnown();
    if (this.#options.useDefaults === true) fillDefaults(schema['properties'], value, within);
    let holds = true;
    for (const [keyword, rule] of Object.entries(schema)) {
      // All keywords are looked at: one that is not known decides nothing, wherever it stands.
      if (SILENT.has(keyword) && (keyword !== '$id' || schema === this.#root)) continue;
      holds = this.#keyword(keyword, rule, schema, value, within) && holds;
    }
    return holds;
  }

  #keyword(keyword: string, rule: unknown, schema: JSONSchema, value: unknown, within: boolean): boolean {
    switch (keyword) {
      case '$ref':
        return this.#refersTo(String(rule), value, within);
      case 'type':
        return [rule].flat().some((type) => isOfType(String(type), value));
      case 'enum':
        return (rule as unknown[]).some((one) => equal(one, value));
      case 'const':
        return equal(rule, value);
      case 'allOf':
        return (rule as unknown[]).every((branch) => this.holds(branch, value, within));
      case 'anyOf':
        return this.#count(rule, value) > 0;
      case 'oneOf':
        return this.#count(rule, value) === 1;
    }
    if (keyword in ON_NUMBERS) return typeof value !== 'number' || ON_NUMBERS[keyword]!(value, Number(rule));
    if (keyword in ON_STRINGS) return typeof value !== 'string' || ON_STRINGS[keyword]!(value, rule);
    if (keyword in ON_LISTS) return !Array.isArray(value) || ON_LISTS[keyword]!(value, rule);
    if (keyword === 'items') return !Array.isArray(value) || value.every((item) => this.holds(rule, item, within));
    if (!ON_OBJECTS.has(keyword)) throw new NotKnown();
    return !isObject(value) || this.#ofObject(keyword, rule, schema, value, within);
  }

  #ofObject(keyword: string, rule: unknown, schema: JSONSchema, value: JSONSchema, within: boolean): boolean {
    if (keyword === 'required') return (rule as string[]).every((key) => value[key] !== undefined);
    if (keyword === 'properties') {
      return Object.entries(rule as JSONSchema).every(
        ([key, property]) => value[key] === undefined || this.holds(property, value[key], within),
      );
    }
    // additionalProperties: a `patternProperties` beside it is a keyword that is not known.
    const known = (schema['properties'] ?? {}) as JSONSchema;
    return Object.keys(value).every((key) => Object.hasOwn(known, key) || this.holds(rule, value[key], within));
  }

  #count(branches: unknown, value: unknown): number {
    return (branches as unknown[]).filter((branch) => this.holds(branch, value, true)).length;
  }

  #refersTo(reference: string, value: unknown, within: boolean): boolean {
    const [id = '', pointer = ''] = reference.split('#');
    const root = id === '' || id === this.#root['$id'] ? this.#root : this.#options.shared?.get(id);
    if (root === undefined || (pointer !== '' && !/^(\/[\w$-]+)+$/.test(pointer))) throw new NotKnown();
    let at: unknown = root;
    for (const step of pointer.split('/').slice(1)) at = isObject(at) ? at[step] : undefined;
    return root === this.#root
      ? this.holds(at, value, within)
      : new Reading(root, this.#options).holds(at, value, within);
  }
}

/** ajv leaves out the defaults of unions; through a reference it fills them all the same. Neither is done here. */
const fillDefaults = (properties: unknown, value: unknown, within: boolean): void => {
  if (!isObject(properties) || !isObject(value)) return;
  for (const [key, property] of Object.entries(properties)) {
    if (!isObject(property) || property['default'] === undefined || value[key] !== undefined) continue;
    if (within) throw new NotKnown();
    (value as Record<string, unknown>)[key] = structuredClone(property['default']);
  }
};

const isOfType = (type: string, value: unknown): boolean => {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'number':
      return Number.isFinite(value);
    case 'integer':
      return Number.isInteger(value);
    case 'string':
    case 'boolean':
      return typeof value === type;
    default:
      throw new NotKnown();
  }
};

type Rules<T> = Readonly<Record<string, (value: T, rule: unknown) => boolean>>;

const ON_NUMBERS: Readonly<Record<string, (value: number, limit: number) => boolean>> = {
  minimum: (value, limit) => value >= limit,
  maximum: (value, limit) => value <= limit,
  exclusiveMinimum: (value, limit) => value > limit,
  exclusiveMaximum: (value, limit) => value < limit,
};

/** A character is a code point. */
const ON_STRINGS: Rules<string> = {
  minLength: (value, rule) => [...value].length >= Number(rule),
  maxLength: (value, rule) => [...value].length <= Number(rule),
  pattern: (value, rule) => new RegExp(String(rule), 'u').test(value),
};

const ON_LISTS: Rules<readonly unknown[]> = {
  minItems: (value, rule) => value.length >= Number(rule),
  maxItems: (value, rule) => value.length <= Number(rule),
  uniqueItems: (value, rule) =>
    rule !== true || value.every((item, index) => !value.slice(0, index).some((other) => equal(item, other))),
};

const equal = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => equal(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]));
};
