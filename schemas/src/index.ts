import { readFileSync } from 'node:fs';

export * from './generated/model-plan.js';

/** A JSON Schema as a value. */
export type JSONSchema = Readonly<Record<string, unknown>>;

/** The JSON Schema `json/<name>.schema.json` of this package. */
export const schema = (name: string): JSONSchema =>
  JSON.parse(readFileSync(new URL(`../json/${name}.schema.json`, import.meta.url), 'utf8')) as JSONSchema;
