import { schemaCompiler } from '@kvad/core';
import { schema } from '@kvad/schemas';
import type { ErrorObject } from 'ajv/dist/2020.js';

/** The first thing that a JSON Schema finds wrong with a value, as a sentence; null: nothing. */
export type SchemaCheck = (value: unknown) => string | null;

/** The check of one of the schemas of @kvad/schemas. */
export const schemaCheck = (name: string): SchemaCheck => {
  const validate = schemaCompiler().compile(schema(name));
  return (value) => {
    if (validate(value)) return null;
    const [error] = validate.errors ?? [];
    return error === undefined ? 'it does not fit its schema' : sentence(error);
  };
};

const sentence = ({ keyword, params, instancePath, message }: ErrorObject): string => {
  const where = instancePath === '' ? 'it' : `"${instancePath.slice(1).replaceAll('/', '.')}"`;
  if (keyword === 'additionalProperties')
    return `${where} has an unknown key "${String(params['additionalProperty'])}"`;
  return `${where} ${message ?? `fails "${keyword}"`}`;
};
