import { refuseConfig } from './config-refusal.js';
import { CONFIG_SOURCE, isObject, valueAt, type ConfigSource, type RawConfig } from './config-source.js';

/**
 * Hands a config to a family and records which of its keys are read. A key is read when its value is taken: a number,
 * a string, a list of them, an empty object. An object is a way to its keys, so taking it reads nothing yet. Asking
 * whether a key exists (`in`) reads nothing either. Listing the keys (`Object.keys`, a spread) is refused: it would
 * touch all of them without using one, and the audit would pass what nobody looked at.
 */
export class ConfigRecorder implements ConfigSource {
  readonly reads = new Set<string>();
  readonly inerts = new Map<string, string>();
  readonly #proxies = new WeakMap<object, object>();

  /**
   * @param values checked and completed config
   * @param raw the same as the file has it
   * @param declares whether the family's schema has this key; reading another one is the family's mistake
   */
  constructor(
    readonly file: string,
    readonly values: RawConfig,
    readonly raw: RawConfig,
    readonly declares: (key: string) => boolean,
  ) {}

  /** The config as the family sees it. */
  get config(): object {
    return this.#proxy(this.values, '');
  }

  stored(path: string): unknown {
    return valueAt(this.raw, path);
  }

  read(path: string): void {
    this.reads.add(path);
  }

  inert(path: string, reason: string): void {
    this.inerts.set(path, reason);
  }

  #proxy(target: object, path: string): object {
    const known = this.#proxies.get(target);
    if (known !== undefined) return known;
    const readOnly = (): never => {
      throw new TypeError(`a config is read only (${path || 'its keys'})`);
    };
    const proxy = new Proxy(target, {
      get: (object, key) => (typeof key === 'symbol' ? this.#symbol(object, key, path) : this.#get(object, key, path)),
      ownKeys: (object) => (Array.isArray(object) ? Reflect.ownKeys(object) : this.#refuseListing(path)),
      set: readOnly,
      defineProperty: readOnly,
      deleteProperty: readOnly,
      setPrototypeOf: readOnly,
    });
    this.#proxies.set(target, proxy);
    return proxy;
  }

  #symbol(object: object, key: symbol, path: string): unknown {
    if (key === CONFIG_SOURCE && path === '') return this;
    return Reflect.get(object, key);
  }

  #get(object: object, key: string, path: string): unknown {
    const value: unknown = Reflect.get(object, key);
    if (!Object.hasOwn(object, key)) return value;
    const isElement = Array.isArray(object);
    if (isElement && key === 'length') return value;
    const at = isElement ? `${path}[${key}]` : join(path, key);
    if (path === '' && !this.declares(key)) {
      throw new TypeError(`the family reads "${key}", which its schema does not declare`);
    }
    if (isContainer(value)) return this.#proxy(value, at);
    this.reads.add(at);
    return Object.freeze(value);
  }

  #refuseListing(path: string): never {
    const what = path === '' ? 'the config' : `"${path}"`;
    throw new TypeError(`the family lists the keys of ${what}: each key that is used must be read by its name`);
  }
}

/** An object with keys of its own, or a list that holds one somewhere: audited by what is in it. */
export const isContainer = (value: unknown): value is object =>
  Array.isArray(value)
    ? value.some((element) => isContainer(element))
    : isObject(value) && Object.keys(value).length > 0;

export const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

/** The object at `key`, or a refusal. */
export const objectAt = (values: RawConfig, key: string): RawConfig => {
  const value = values[key];
  return isObject(value) ? value : refuseConfig(key, value, 'is not an object');
};
