import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { schemaCompiler } from '@kvad/core';
import { schema, type JSONSchema } from '@kvad/schemas';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');
const folders = [
  'schemas/json',
  ...readdirSync(path.join(root, 'plugins')).map((plugin) => `plugins/${plugin}/src/families`),
];
const files = folders.flatMap((folder) =>
  readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith('.schema.json'))
    .map((name) => `${folder}/${name}`),
);

/** When a model is opened, schemas are compiled without this look at their form: it would take longer than the rest. */
it.each(files)('%s is a strict JSON Schema', (file) => {
  const ajv = schemaCompiler({ validateSchema: true, useDefaults: true });
  for (const name of ['config-rope', 'model-plan'])
    if (!file.endsWith(`/${name}.schema.json`)) ajv.addSchema(schema(name));
  const text = JSON.parse(readFileSync(path.join(root, file), 'utf8')) as JSONSchema;
  expect(() => ajv.compile(text)).not.toThrow();
});
