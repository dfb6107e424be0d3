import { schemaCheck as checkOf } from '@kvad/core';
import { schema } from '@kvad/schemas';
import type { ErrorObject } from 'ajv/dist/2020.js';

/** The first thing that a JSON Schema finds wrong with a value, as a sentence; null: nothing. */
export type SchemaCheck = (value: unknown) => string | null;

/** The check of one of the schemas of @kvad/schemas. */
export const schemaCheck = (name: string): SchemaCheck => {
  const check = checkOf(schema(name));
  return (value) => {
    const [error] = check(value);
    return error === undefined ? null : sentence(error);
  };
};

const sentence = ({ keyword, params, instancePath, message }: ErrorObject): string => {
  const where = instancePath === '' ? 'it' : `"${instancePath.slice(1).replaceAll('/', '.')}"`;
  if (keyword === 'additionalProperties')
    return `${where} has an unknown key "${String(params['additionalProperty'])}"`;
  return `${where} ${message ?? `fails "${keyword}"`}`;
};
