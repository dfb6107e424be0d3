/** Words for the JSON Schema of a part's options: `schema.object({ size: schema.size, bias: schema.flag })`. */
import type { JSONSchema } from '@kvad/schemas';

export const size: JSONSchema = { type: 'integer', minimum: 1 };
export const number: JSONSchema = { type: 'number' };
export const positive: JSONSchema = { type: 'number', exclusiveMinimum: 0 };
export const notNegative: JSONSchema = { type: 'number', minimum: 0 };
export const flag: JSONSchema = { type: 'boolean' };

/** An object with these keys and no others; those not `optional` must be there. */
export const object = (
  properties: Readonly<Record<string, JSONSchema>>,
  optional: readonly string[] = [],
): JSONSchema => ({
  type: 'object',
  additionalProperties: false,
  required: Object.keys(properties).filter((key) => !optional.includes(key)),
  properties,
});

/** Options that exclude each other, each an object with a constant that tells it from the others. */
export const oneOf = (...choices: readonly JSONSchema[]): JSONSchema => ({ oneOf: choices });

/** A nested part, whose own schema checks its options. */
export const part: JSONSchema = object({ kind: { type: 'string', minLength: 1 }, options: { type: 'object' } });

/** A nested norm. */
export const norm: JSONSchema = object(
  {
    kind: { type: 'string', minLength: 1 },
    eps: notNegative,
    offset: { enum: [0, 1] },
    weight: flag,
    bias: flag,
    options: { type: 'object' },
  },
  ['options'],
);
