import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { CliArchShow, ConfigKey, JSONSchema } from '@kvad/schemas';

/** The config keys that a family's JSON Schema declares, in its order. */
export const configKeys = (folder: string, name: string): Pick<CliArchShow['config'], 'schema' | 'keys'> => {
  const schema = JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as JSONSchema;
  const required = new Set((schema.required ?? []) as string[]);
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JSONSchema>);
  return {
    schema: name,
    keys: properties.map(([key, property]): ConfigKey => {
      const about = typeof property.description === 'string' ? property.description : null;
      const found = { key, required: required.has(key), type: typeOf(property), about };
      return 'default' in property ? { ...found, default: property.default } : found;
    }),
  };
};

/** A word for what a key holds: `integer`, `number or null`, `"a" | "b"`, the name of a shared definition. */
const typeOf = (property: JSONSchema): string => {
  if (Array.isArray(property.enum)) return property.enum.map((value) => JSON.stringify(value)).join(' | ');
  if ('const' in property) return JSON.stringify(property.const);
  if (Array.isArray(property.type)) return property.type.join(' or ');
  if (typeof property.type === 'string') return property.type;
  if (typeof property.$ref === 'string') return property.$ref.split('/').at(-1) ?? property.$ref;
  const branches = (property.anyOf ?? property.oneOf ?? property.allOf) as JSONSchema[] | undefined;
  return branches?.map(typeOf).join(' or ') ?? 'any';
};
