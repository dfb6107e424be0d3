import { KvadError } from '../errors/kvad-error.js';
import { shortJson } from './short-json.js';
import { refuseConfig } from './config-refusal.js';
import { isGiven, isObject, valueAt, type ConfigSource } from './config-source.js';

/** A value and the path where it stands. */
interface Found {
  readonly path: string;
  readonly value: unknown;
}

/**
 * The settings of one rotary table, wherever the file has them. A key may have several homes; those that are given
 * must say the same, or KVAD_E_CONFIG_CONFLICT names two that do not. Every key asked for counts as read.
 */
export class RopeSettings {
  /**
   * @param dictionaries paths of the objects that hold the settings, the one that wins first
   * @param replaces the first one replaces the others: a key that only another has would be lost
   */
  constructor(
    readonly source: ConfigSource,
    readonly dictionaries: readonly string[],
    readonly replaces: boolean,
  ) {}

  /** The path where a message should send the reader for this key. */
  pathOf(...names: readonly string[]): string {
    return this.#found(names)[0]?.path ?? `${this.dictionaries[0] ?? 'rope_parameters'}.${names[0]}`;
  }

  /**
   * The value of a key; undefined where no home has it.
   *
   * @param names its names inside a dictionary
   * @param outside paths outside of the dictionaries that mean the same
   * @param same what two homes are compared by
   */
  value(names: readonly string[], outside: readonly string[] = [], same = (value: unknown): unknown => value): unknown {
    const found = [...this.#found(names), ...this.#outside(outside)];
    const [first, ...others] = found;
    if (first === undefined) return undefined;
    for (const { path } of found) this.source.read(path);
    const other = others.find(({ value }) => !isSame(same(value), same(first.value)));
    if (other !== undefined) throw conflict(this.source.file, first, other);
    this.#refuseLost(found, outside);
    return first.value;
  }

  /** Homes of a key that are given, in the order of their precedence; looking at them reads nothing. */
  homes(names: readonly string[], outside: readonly string[]): readonly Found[] {
    return [...this.#found(names), ...this.#outside(outside)];
  }

  number(key: string): number | undefined {
    return this.#checked(key, (value) => Number.isFinite(value), 'is not a number');
  }

  positive(key: string): number | undefined {
    return this.#checked(key, isPositive, 'is not a positive number');
  }

  /** Like `positive`, for a key that a table of this type cannot do without. */
  required(key: string, type: string): number {
    return this.positive(key) ?? refuseConfig(this.pathOf(key), null, `is needed by a ${type} rotary table`);
  }

  boolean(key: string): boolean | undefined {
    return this.#checked(key, (value) => typeof value === 'boolean', 'is neither true nor false');
  }

  /** Factors, one for each pair of rotated columns. */
  factors(key: string, count: number): readonly number[] {
    const value = this.value([key]);
    if (!Array.isArray(value) || !value.every(isPositive)) {
      return refuseConfig(this.pathOf(key), value ?? null, 'is not a list of positive numbers');
    }
    if (value.length !== count) {
      return refuseConfig(
        this.pathOf(key),
        value,
        `has ${value.length} numbers, and ${count} pairs of columns are rotated`,
      );
    }
    return value;
  }

  /** Wherever it stands, the key changes nothing, for this reason. */
  inert(key: string, reason: string): void {
    for (const path of this.dictionaries) this.source.inert(`${path}.${key}`, reason);
  }

  #checked<T>(key: string, accepts: (value: unknown) => boolean, reason: string): T | undefined {
    const value = this.value([key]);
    if (value === undefined) return undefined;
    return accepts(value) ? (value as T) : refuseConfig(this.pathOf(key), value, reason);
  }

  #found(names: readonly string[]): Found[] {
    const paths = this.dictionaries.flatMap((path) => names.map((name) => `${path}.${name}`));
    return this.#there(paths, () => true);
  }

  /** Outside of the dictionaries a value may be a default of the schema, which yields to what the file says. */
  #outside(paths: readonly string[]): Found[] {
    return this.#there(paths, (path) => isGiven(this.source.stored(path)));
  }

  #there(paths: readonly string[], counts: (path: string) => boolean): Found[] {
    return paths
      .map((path) => ({ path, value: valueAt(this.source.values, path) }))
      .filter(({ path, value }) => isGiven(value) && counts(path));
  }

  #refuseLost(found: readonly Found[], outside: readonly string[]): void {
    const [winner] = this.dictionaries;
    if (!this.replaces || winner === undefined || found.some(({ path }) => path.startsWith(`${winner}.`))) return;
    if (found.some(({ path }) => outside.includes(path))) return;
    const [lost] = found;
    if (lost === undefined) return;
    throw conflict(this.source.file, lost, { path: winner, value: valueAt(this.source.values, winner) });
  }
}

/** The dictionaries of a config with one rotary table: `rope_scaling` replaces `rope_parameters`, as published. */
export const flatSettings = (source: ConfigSource): RopeSettings => {
  const all = ['rope_scaling', 'rope_parameters'].filter((path) => isDictionary(source, path));
  const given = all.filter((path) => isGiven(source.stored(path)));
  return new RopeSettings(source, given.length > 0 ? given : all, given.length > 1);
};

/** True for an object with keys in it; null and `{}` are none. Refuses what is no object. */
export const isDictionary = (source: ConfigSource, path: string): boolean => {
  const value = valueAt(source.values, path);
  if (!isGiven(value)) return false;
  if (!isObject(value)) return refuseConfig(path, value, 'is not an object of rotary settings');
  return Object.keys(value).length > 0;
};

const isPositive = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value > 0;

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const conflict = (file: string, a: Found, b: Found): KvadError =>
  new KvadError('KVAD_E_CONFIG_CONFLICT', {
    keys: [a.path, b.path],
    values: [shortJson(a.value), shortJson(b.value)],
    file,
  });
