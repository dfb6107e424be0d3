import { isDeepStrictEqual } from 'node:util';
import { isKvadError } from '../errors/kvad-error.js';

type Config = Readonly<Record<string, unknown>>;

/** What a config becomes: a plan, weight rules, anything that can be compared. Throws a KvadError where it is refused. */
export type Derive = (config: Config) => unknown;

export interface IdleKeysQuestion {
  readonly config: Config;
  /** Dotted paths, `[]` for each element of a list, as a config audit gives them. */
  readonly keys: readonly string[];
  readonly derive: Derive;
  /** Values that the schema lists for keys of that name; may be empty. */
  readonly listed?: (name: string) => readonly unknown[];
}

/**
 * Keys that are read and change nothing: the metamorphic half of the config audit. Each key gets other values, one after
 * another; it matters when one of them is accepted and leads to something else, or when none is accepted at all. A key
 * may matter only beside another one (a window that is switched off, a rule that a list overrules): what seems idle is
 * tried again beside each other change, and beside the absence of each other key.
 */
export const idleKeys = ({ config, keys, derive, listed = () => [] }: IdleKeysQuestion): string[] => {
  const changes = keys.flatMap((key) =>
    otherValues(valueAt(config, key), listed(nameOf(key))).map((value) => ({ key, value })),
  );
  const matters = (key: string, base: Config): boolean => {
    const before = attempt(derive, base);
    if (before === REFUSED) return false;
    const after = changes
      .filter((change) => change.key === key)
      .map(({ value }) => attempt(derive, withValue(base, key, value)))
      .filter((outcome) => outcome !== REFUSED);
    return after.length === 0 || after.some((outcome) => !isDeepStrictEqual(outcome, before));
  };
  const besides = [...changes, ...keys.map((key) => ({ key, value: ABSENT }))];
  const mattersBeside = (key: string): boolean =>
    besides.some((other) => other.key !== key && matters(key, withValue(config, other.key, other.value)));

  return keys.filter((key) => !matters(key, config) && !mattersBeside(key));
};

const REFUSED = Symbol('refused');
const ABSENT = Symbol('absent');

const attempt = (derive: Derive, config: Config): unknown => {
  try {
    return derive(config);
  } catch (error) {
    if (isKvadError(error)) return REFUSED;
    throw error;
  }
};

/** Values of the same kind that differ from `value`; for null one of each kind. */
export const otherValues = (value: unknown, listed: readonly unknown[]): unknown[] => {
  const others = [...listed, ...guesses(value)];
  return others.filter(
    (other, index) =>
      !isDeepStrictEqual(other, value) && others.findIndex((one) => isDeepStrictEqual(one, other)) === index,
  );
};

const guesses = (value: unknown): unknown[] => {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'string') return ['silu', 'gelu', 'relu'];
  if (typeof value === 'number') {
    return Number.isInteger(value)
      ? [value + 1, value * 2, value - 1, Math.floor(value / 2), 1]
      : [value * 2, value / 2];
  }
  if (Array.isArray(value)) {
    const inner = otherValues(value[0], value).map((first) => [first, ...value.slice(1)]);
    return [value.toReversed(), ...inner];
  }
  return [true, 1, 8, 0.5, 'silu'];
};

const nameOf = (path: string): string => path.split('.').at(-1)!.replace(/\[\]$/, '');

/** `a.b[].c` -> `a`, `b`, `0`, `c`: the first element stands for all. */
const stepsOf = (path: string): string[] => path.replaceAll('[]', '.0').split('.');

const valueAt = (config: unknown, path: string): unknown =>
  stepsOf(path).reduce((at, step) => (at as Config | undefined)?.[step], config);

const withValue = (config: Config, path: string, value: unknown): Config => {
  const copy = structuredClone(config);
  const steps = stepsOf(path);
  const parent = steps.slice(0, -1).reduce<unknown>((at, step) => (at as Config)[step], copy);
  const last = steps.at(-1)!;
  if (value === ABSENT) Reflect.deleteProperty(parent as object, last);
  else (parent as Record<string, unknown>)[last] = value;
  return copy;
};

/** Every value that a JSON Schema lists (`enum`, `const`) for properties of a name, at any depth. */
export const listedValues = (schema: unknown, name: string): unknown[] => {
  if (schema === null || typeof schema !== 'object') return [];
  const { properties } = schema as { properties?: Config };
  const own = properties?.[name] === undefined ? [] : valuesIn(properties[name]);
  return [...own, ...Object.values(schema).flatMap((child) => listedValues(child, name))];
};

const valuesIn = (schema: unknown): unknown[] => {
  if (schema === null || typeof schema !== 'object') return [];
  const { enum: values, const: only, ...rest } = schema as Config;
  return [
    ...(Array.isArray(values) ? values : []),
    ...(only === undefined ? [] : [only]),
    ...Object.values(rest).flatMap(valuesIn),
  ];
};
