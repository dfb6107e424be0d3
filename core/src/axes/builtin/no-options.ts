import type { JSONSchema } from '@kvad/schemas';

/** Options of a part that has none. */
export type NoOptions = Readonly<Record<string, never>>;

export const NO_OPTIONS: JSONSchema = { type: 'object', additionalProperties: false };
