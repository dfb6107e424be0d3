import type { JSONSchema } from '@kvad/schemas';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';

/** The first thing that a JSON Schema finds wrong with a value, as a sentence; null: nothing. */
export const schemaProblem = (schema: JSONSchema, value: unknown): string | null => {
  const validate = new Ajv2020({ strict: true }).compile(schema);
  if (validate(value)) return null;
  const [error] = validate.errors ?? [];
  return error === undefined ? 'it does not fit its schema' : sentence(error);
};

const sentence = ({ keyword, params, instancePath, message }: ErrorObject): string => {
  const where = instancePath === '' ? 'it' : `"${instancePath.slice(1).replaceAll('/', '.')}"`;
  if (keyword === 'additionalProperties')
    return `${where} has an unknown key "${String(params['additionalProperty'])}"`;
  return `${where} ${message ?? `fails "${keyword}"`}`;
};
