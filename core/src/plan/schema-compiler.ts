import { Ajv2020, type Options } from 'ajv/dist/2020.js';

/**
 * Ajv for schemas that are used a few times and then thrown away: the start of a process waits for the compiler, not
 * for the checks, so it inlines and optimises nothing. Schemas are held against the schema of schemas by the tests
 * (ours) and the conformance kit (a plugin's), not each time that a model is opened; strict mode stays on.
 */
export const schemaCompiler = (options: Options = {}): Ajv2020 =>
  new Ajv2020({
    strict: true,
    allowUnionTypes: true,
    validateSchema: false,
    inlineRefs: false,
    code: { optimize: false },
    ...options,
  });
