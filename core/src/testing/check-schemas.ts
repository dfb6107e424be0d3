import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { schema as sharedSchema } from '@kvad/schemas';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Plugin } from '../plan/plugin.js';
import type { FamilyUnderTest } from './plugin-under-test.js';

/**
 * Holds the JSON Schemas of a family's config and of all parts beside it against the schema of schemas, in ajv's strict
 * mode. A model that is opened does not: it trusts what this has seen.
 */
export const checkSchemas = ({ family, schemas }: FamilyUnderTest, plugins: readonly Plugin[]): void => {
  const file = path.join(schemas, family.config.schema);
  requireValid(file, JSON.parse(readFileSync(file, 'utf8')) as object);
  for (const plugin of plugins) {
    for (const { kind, options } of partsIn(plugin)) requireValid(`${plugin.name}: options of "${kind}"`, options);
  }
};

const partsIn = (plugin: Plugin): { kind: string; options: object }[] => [
  ...plugin.mixers,
  ...plugin.feedForwards,
  ...plugin.routers,
  ...plugin.sharedExperts,
  ...plugin.blocks,
  ...plugin.stacks,
  ...plugin.inputs,
  ...plugin.norms,
  ...plugin.activations,
];

const requireValid = (what: string, schema: object): void => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  ajv.addSchema(sharedSchema('config-rope'));
  try {
    ajv.compile(schema);
  } catch (error) {
    // A plain sentence in front of what ajv says: it does not name the schema.
    assert.fail(`${what} is not a valid JSON Schema: ${(error as Error).message}`);
  }
};
