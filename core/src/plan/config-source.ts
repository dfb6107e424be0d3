/** The values of a config.json: JSON, and nothing is known of it yet. */
export type RawConfig = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Neither absent nor null. */
export const isGiven = <T>(value: T): value is NonNullable<T> => value !== undefined && value !== null;

/**
 * What stands behind the config that a family gets: how core's own readers (rotary tables) look at keys of many
 * homes and say which of them they used. Paths are dotted and relative to the family's config: `rope_parameters.factor`.
 */
export interface ConfigSource {
  readonly file: string;
  /** Checked, completed by the schema's defaults; looking at it records nothing. */
  readonly values: RawConfig;
  /** What the file itself has, without the schema's defaults: undefined where it has nothing, null where it says so. */
  stored(path: string): unknown;
  read(path: string): void;
  /** The key changes nothing in this model, for this reason. */
  inert(path: string, reason: string): void;
}

/** `Symbol.for`: a plugin's own copy of this package finds the source as well. */
export const CONFIG_SOURCE = Symbol.for('kvad.config-source');

/** The source of a family's config; a plain object (a test of a family's own) stands for itself and records nothing. */
export const sourceOf = (config: object): ConfigSource =>
  (config as { [CONFIG_SOURCE]?: ConfigSource })[CONFIG_SOURCE] ?? {
    file: 'config.json',
    values: config as RawConfig,
    stored: (path) => valueAt(config as RawConfig, path),
    read: () => undefined,
    inert: () => undefined,
  };

/** The value at a dotted path; undefined where a part of it is not there. */
export const valueAt = (values: RawConfig, path: string): unknown =>
  path.split('.').reduce<unknown>((at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined), values);
