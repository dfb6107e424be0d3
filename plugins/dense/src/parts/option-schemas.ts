import type { JSONSchema } from '@kvad/core/plugin';

export const size: JSONSchema = { type: 'integer', minimum: 1 };
export const positive: JSONSchema = { type: 'number', exclusiveMinimum: 0 };
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

/** A nested part, whose own schema checks its options. */
export const partSchema: JSONSchema = object({ kind: { type: 'string', minLength: 1 }, options: { type: 'object' } });

/** A nested norm. */
export const normSchema: JSONSchema = object(
  {
    kind: { type: 'string', minLength: 1 },
    eps: { type: 'number', minimum: 0 },
    offset: { enum: [0, 1] },
    weight: flag,
    bias: flag,
    options: { type: 'object' },
  },
  ['options'],
);
