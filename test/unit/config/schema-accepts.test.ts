/** `accepts` reads a schema; ajv compiles it. Where the first says yes, the second must, and fills the same defaults. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { schemaCompiler } from '@kvad/core';
import { schema as sharedSchema, type JSONSchema } from '@kvad/schemas';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accepts } from '../../../core/dist/plan/schema-accepts.js';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): JSONSchema => JSON.parse(readFileSync(path.join(root, file), 'utf8')) as JSONSchema;
const families = readdirSync(path.join(root, 'plugins')).flatMap((plugin) => {
  const folder = `plugins/${plugin}/src/families`;
  return readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith('.schema.json'))
    .map((name) => `${folder}/${name}`);
});
const rope = JSON.parse(
  JSON.stringify(sharedSchema('config-rope')).replaceAll(
    '"$ref":"#',
    `"$ref":"${String(sharedSchema('config-rope')['$id'])}#`,
  ),
) as JSONSchema;
const shared = new Map([[String(rope['$id']), rope]]);

const both = (schema: JSONSchema, useDefaults: boolean) => {
  const ajv = schemaCompiler({ useDefaults });
  if (schema['$id'] !== rope['$id']) ajv.addSchema(rope);
  const validate = ajv.compile(schema);
  return (value: unknown) => {
    const [mine, theirs] = [structuredClone(value), structuredClone(value)];
    return { mine, accepted: accepts(schema, mine, { shared, useDefaults }), theirs, valid: validate(theirs) };
  };
};

/** Values that a schema mostly likes; what is taken at random keeps both verdicts frequent. */
const valueFor = (schema: unknown, whole: JSONSchema, depth = 0): fc.Arbitrary<unknown> => {
  const any = fc.jsonValue({ maxDepth: 1 });
  if (typeof schema !== 'object' || schema === null || depth > 6) return any;
  const s = schema as Record<string, never>;
  const likes = liked(s, whole, depth);
  return fc.oneof({ weight: 1, arbitrary: any }, { weight: 12, arbitrary: likes ?? any });
};

const liked = (s: Record<string, never>, whole: JSONSchema, depth: number): fc.Arbitrary<unknown> | null => {
  if (s['$ref'] !== undefined) return valueFor(target(String(s['$ref']), whole), whole, depth + 1);
  const branches = (s['anyOf'] ?? s['oneOf'] ?? s['allOf']) as unknown[] | undefined;
  if (branches !== undefined) return fc.oneof(...branches.map((branch) => valueFor(branch, whole, depth + 1)));
  if (s['enum'] !== undefined) return fc.constantFrom(...(s['enum'] as unknown[]));
  if (s['const'] !== undefined) return fc.constant(s['const'] as unknown);
  const type = String([s['type'] ?? 'object'].flat()[0]);
  const min = Number(s['minimum'] ?? s['exclusiveMinimum'] ?? -4);
  switch (type) {
    case 'integer':
      return fc.integer({ min: Math.floor(min), max: Math.floor(min) + 9 });
    case 'number':
      return fc.oneof(fc.integer({ min: Math.floor(min), max: Math.floor(min) + 9 }), fc.double({ noNaN: true }));
    case 'boolean':
      return fc.boolean();
    case 'string':
      return fc.oneof(fc.constantFrom('', 'a', '😀', '@kvad/core', './dist/index.js'), fc.string({ maxLength: 4 }));
    case 'array':
      return fc.array(valueFor(s['items'], whole, depth + 1), { maxLength: 3 });
    case 'null':
      return fc.constant(null);
  }
  const properties = Object.entries((s['properties'] ?? {}) as object).map(
    ([key, property]) => [key, valueFor(property, whole, depth + 1)] as const,
  );
  const required = ((s['required'] ?? []) as string[]).filter((key) => properties.some(([name]) => name === key));
  return fc.record(Object.fromEntries(properties), { requiredKeys: required });
};

const target = (reference: string, whole: JSONSchema): unknown => {
  const [id = '', pointer = ''] = reference.split('#');
  const from: unknown = id === '' || id === whole['$id'] ? whole : rope;
  return pointer
    .split('/')
    .slice(1)
    .reduce((at, step) => (at as Record<string, unknown>)[step], from);
};

describe('a value that is accepted is one that ajv accepts, and one that is not is not', () => {
  const files = ['plugin-manifest', 'model-plan', 'kvad-config'].map((name) => `schemas/json/${name}.schema.json`);
  it.each([...files, ...families])('%s', (file) => {
    const schema = read(file);
    const judge = both(schema, families.includes(file));
    fc.assert(
      fc.property(valueFor(schema, schema), (value) => {
        const { mine, accepted, theirs, valid } = judge(value);
        expect(accepted).toBe(valid);
        if (valid) expect(mine).toEqual(theirs);
      }),
      { numRuns: 40 },
    );
  });
});

describe('single keywords', () => {
  const number = fc.integer({ min: 0, max: 3 });
  const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), number, fc.constantFrom('a', 'ab', '😀', '1e3', 'toString'));
  const scalar = fc.oneof(number, fc.constantFrom('a', 'ab', null, true));
  const type = fc.constantFrom('null', 'array', 'object', 'number', 'integer', 'string', 'boolean');
  const leaf = fc.oneof(
    fc.boolean(),
    fc.record({ type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })) }),
    fc.record({ const: fc.jsonValue({ maxDepth: 1 }) }),
    fc.record({ enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }) }),
    fc
      .constantFrom('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum')
      .chain((keyword) => number.map((rule) => ({ type: 'number', [keyword]: rule }))),
    fc
      .constantFrom('minLength', 'maxLength')
      .chain((keyword) => number.map((rule) => ({ type: 'string', [keyword]: rule }))),
    fc
      .constantFrom('minItems', 'maxItems')
      .chain((keyword) => number.map((rule) => ({ type: 'array', [keyword]: rule }))),
    fc.constant({ type: 'string', pattern: '^[a-z]+$' }),
    fc.constant({ type: 'array', uniqueItems: true }),
  );
  const { schema } = fc.letrec<{ schema: object | boolean }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.record({ type: fc.constant('array'), items: tie('schema') }),
      fc
        .constantFrom('anyOf', 'oneOf', 'allOf')
        .chain((keyword) =>
          fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((branches) => ({ [keyword]: branches })),
        ),
      fc.record({
        type: fc.constant('object'),
        properties: fc.record({ a: tie('schema'), ab: tie('schema') }),
        additionalProperties: tie('schema'),
        required: fc.subarray(['a', 'ab']),
      }),
    ),
  }));

  it('mean what they mean to ajv', () => {
    const loose = { strictTypes: false, strictTuples: false, strictRequired: false } as const;
    fc.assert(
      fc.property(schema, value, (rule, given) => {
        const valid = schemaCompiler(loose).compile(rule)(given);
        expect(accepts(rule as JSONSchema, given)).toBe(valid);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ['a keyword that is not read', { type: 'number', multipleOf: 2 }, 4],
    ['one that does not concern this value', { type: ['number', 'string'], multipleOf: 2 }, 'a'],
    ['a reference to a schema that is not here', { $ref: 'https://example.org/other.schema.json' }, 4],
    ['defaults within a union', { anyOf: [{ properties: { a: { default: 1 } } }] }, {}],
    ['an $id that moves references', { properties: { a: { $id: 'https://example.org/a', type: 'number' } } }, { a: 1 }],
  ])('%s is left to ajv', (_, rule, given) => {
    expect(accepts(rule, given, { useDefaults: true })).toBe(false);
  });
});
