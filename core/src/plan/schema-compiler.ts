import { createRequire } from 'node:module';
import type { JSONSchema } from '@kvad/schemas';
import type { Ajv2020, ErrorObject, Options, ValidateFunction } from 'ajv/dist/2020.js';
import { accepts } from './schema-accepts.js';

const require = createRequire(import.meta.url);

/**
 * Ajv for schemas that are used a few times and then thrown away: it inlines and optimises nothing. Schemas are held
 * against the schema of schemas by the tests (ours) and the conformance kit (a plugin's), not each time that a model is
 * opened; strict mode stays on. Its modules are loaded when the first schema is compiled, which most runs never do.
 */
export const schemaCompiler = (options: Options = {}): Ajv2020 => {
  const { Ajv2020: Compiler } = require('ajv/dist/2020.js') as { Ajv2020: typeof Ajv2020 };
  return new Compiler({
    strict: true,
    allowUnionTypes: true,
    validateSchema: false,
    inlineRefs: false,
    code: { optimize: false },
    ...options,
  });
};

/** What a JSON Schema finds wrong with a value; empty: nothing. Throws where the schema is seen to be at fault itself. */
export type SchemaCheck = (value: unknown) => readonly ErrorObject[];

export interface CheckOptions {
  /** Schemas that this one may refer to by their `$id`. */
  readonly shared?: readonly JSONSchema[];
  /** Fill absent properties of the value with their `default`s. */
  readonly useDefaults?: boolean;
  /** Find all that is wrong, each with the value that it is about; else the first thing, without. */
  readonly all?: boolean;
}

/** The check of a schema. It is compiled only when a value comes that is not plainly valid. */
export const schemaCheck = (
  schema: JSONSchema,
  { shared = [], useDefaults = false, all = false }: CheckOptions = {},
): SchemaCheck => {
  const byId = new Map(shared.map((one) => [String(one['$id']), one]));
  let compiled: ValidateFunction | undefined;
  const compile = (): ValidateFunction => {
    const compiler = schemaCompiler({ useDefaults, allErrors: all, verbose: all, validateSchema: true });
    for (const one of shared) compiler.addSchema(one);
    return compiler.compile(schema);
  };
  return (value) => {
    if (accepts(schema, value, { shared: byId, useDefaults })) return [];
    compiled ??= compile();
    return compiled(value) ? [] : (compiled.errors ?? []);
  };
};
