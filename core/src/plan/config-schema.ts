import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { schema as sharedSchema, type JSONSchema } from '@kvad/schemas';
import { isObject, type RawConfig } from './config-source.js';
import { schemaCheck, type SchemaCheck } from './schema-compiler.js';
import { schemaProblems, type SchemaProblem } from './schema-problems.js';

/** Schemas that a family's schema may refer to by `https://kvad.dev/schemas/<name>.schema.json#/$defs/…`. */
const SHARED = ['config-rope'];

/**
 * A family's JSON Schema: completes a config with the `default`s of the published config class and checks it.
 * Throws a plain Error, when it is made or first asked, where the schema itself is at fault: the plugin's mistake.
 */
export class ConfigSchema {
  readonly #schema: JSONSchema;
  readonly #byId: ReadonlyMap<string, JSONSchema>;
  readonly #check: SchemaCheck;

  constructor(schema: JSONSchema) {
    this.#schema = schema;
    const shared = SHARED.map((name) => withFullReferences(sharedSchema(name)));
    this.#byId = new Map(shared.map((one) => [String(one['$id']), one]));
    this.#check = schemaCheck(schema, { shared, useDefaults: true, all: true });
  }

  /** `<folder>/<name>`; the name may not lead out of the folder. */
  static read(folder: string, name: string): ConfigSchema {
    const file = path.resolve(folder, name);
    if (path.relative(folder, file).startsWith('..'))
      throw new Error(`the config schema ${name} lies outside ${folder}`);
    if (!existsSync(file)) throw new Error(`the config schema ${file} is not there`);
    return new ConfigSchema(JSON.parse(readFileSync(file, 'utf8')) as JSONSchema);
  }

  declares(key: string): boolean {
    return this.#property(this.#schema, key) !== undefined;
  }

  /**
   * The config without its null keys: null is absent. Where the schema accepts null for a key, null means something
   * else than absence (`sliding_window`: null is no window, absent the default) and stays.
   */
  withoutNulls(raw: RawConfig): Record<string, unknown> {
    return this.#withoutNulls(raw, this.#schema);
  }

  /** Fills `default`s into `config` and returns what the schema finds wrong with it; empty: nothing. */
  complete(config: Record<string, unknown>): SchemaProblem[] {
    return schemaProblems(this.#check(config));
  }

  #withoutNulls(values: RawConfig, schema: JSONSchema | undefined): Record<string, unknown> {
    const kept: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(values)) {
      const property = schema && this.#property(schema, key);
      if (value === null) {
        if (property && this.#acceptsNull(property)) kept[key] = null;
      } else {
        kept[key] = isObject(value) ? this.#withoutNulls(value, property) : structuredClone(value);
      }
    }
    return kept;
  }

  /** The schema of a key, through `$ref`, `allOf`, `anyOf` and `oneOf`. */
  #property(schema: JSONSchema, key: string): JSONSchema | undefined {
    for (const branch of this.#branches(schema)) {
      const properties = branch['properties'];
      if (isObject(properties) && Object.hasOwn(properties, key)) return properties[key] as JSONSchema;
    }
    return undefined;
  }

  #acceptsNull(schema: JSONSchema): boolean {
    return this.#branches(schema).some(
      ({ type, const: only, enum: values }) =>
        type === 'null' ||
        only === null ||
        (Array.isArray(type) && type.includes('null')) ||
        (Array.isArray(values) && values.includes(null)),
    );
  }

  #branches(schema: JSONSchema): JSONSchema[] {
    const nested = ['allOf', 'anyOf', 'oneOf'].flatMap((key) => (schema[key] ?? []) as JSONSchema[]);
    const referred = typeof schema['$ref'] === 'string' ? [this.#resolve(schema['$ref'])] : [];
    return [schema, ...[...referred, ...nested].flatMap((branch) => this.#branches(branch))];
  }

  #resolve(reference: string): JSONSchema {
    const [id = '', pointer = ''] = reference.split('#');
    let at: unknown = id === '' ? this.#schema : this.#byId.get(id);
    for (const step of pointer.split('/').filter((part) => part !== '')) at = isObject(at) ? at[step] : undefined;
    if (!isObject(at)) throw new Error(`the config schema refers to ${reference}, which is not there`);
    return at;
  }
}

/** A shared schema whose references to itself name it, so that they are found from a family's schema as well. */
const withFullReferences = (shared: JSONSchema): JSONSchema =>
  JSON.parse(JSON.stringify(shared).replaceAll('"$ref":"#', `"$ref":"${String(shared['$id'])}#`)) as JSONSchema;
