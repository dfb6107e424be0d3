/**
 * Makes the TypeScript types out of the JSON Schemas, which are the one source:
 *   schemas/json/X.schema.json                 -> schemas/src/generated/X.ts
 *   plugins/P/src/families/T.schema.json       -> plugins/P/src/generated/T.ts
 * A family's type is the config after its `default`s have been filled in: such a key is always there.
 * A generated file whose schema is gone is removed.
 * `--check` writes nothing and fails where a file differs (the gate against drift).
 */
import { compile } from 'json-schema-to-typescript';
import { argv, fs, glob, path } from 'zx';

const root = path.resolve(import.meta.dirname, '..');
const shared = path.join(root, 'schemas/json');
const nameOf = (file) => path.basename(file, '.schema.json');

const find = async (pattern) => (await glob(pattern, { cwd: root })).sort();

const sources = [
  ...(await find('schemas/json/*.schema.json')).map((file) => ({
    file,
    to: `schemas/src/generated/${nameOf(file)}.ts`,
  })),
  ...(await find('plugins/*/src/families/*.schema.json')).map((file) => ({
    file,
    to: path.join(path.dirname(file), '..', 'generated', `${nameOf(file)}.ts`),
  })),
];
const stale = (await find('{schemas,plugins/*}/src/generated/*.ts')).filter(
  (file) => !sources.some(({ to }) => to === file),
);

const drift = [];
for (const { file, to } of sources) {
  const text = await typesOf(file);
  const target = path.join(root, to);
  const old = (await fs.pathExists(target)) ? await fs.readFile(target, 'utf8') : null;
  if (old === text) continue;
  drift.push(`${to} differs from ${file}`);
  if (!argv.check) await fs.outputFile(target, text);
}
for (const file of stale) {
  drift.push(`${file} has no schema any more`);
  if (!argv.check) await fs.remove(path.join(root, file));
}

for (const line of drift) console.log(argv.check ? `${line}: run npm run generate` : `${line}: done`);
process.exitCode = argv.check && drift.length > 0 ? 1 : 0;

async function typesOf(file) {
  const json = await fs.readJson(path.join(root, file));
  return compile(file.startsWith('plugins/') ? withDefaultsPresent(json) : json, json.title ?? nameOf(file), {
    cwd: path.dirname(path.join(root, file)),
    bannerComment: `/** Generated from ${path.basename(file)} by \`npm run generate\`: change that file. */`,
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    style: { singleQuote: true, printWidth: 120, trailingComma: 'all' },
    $refOptions: {
      resolve: {
        kvad: {
          order: 1,
          canRead: /^https:\/\/kvad\.dev\/schemas\//,
          read: ({ url }) => fs.readFile(path.join(shared, path.basename(url)), 'utf8'),
        },
      },
    },
  });
}

/** The schema of the same object after ajv has filled in defaults: wherever an object is, its defaulted keys are too. */
function withDefaultsPresent(schema) {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return schema;
  const filled = { ...schema };
  for (const place of ['properties', '$defs']) {
    if (schema[place] === undefined) continue;
    filled[place] = Object.fromEntries(
      Object.entries(schema[place]).map(([key, value]) => [key, withDefaultsPresent(value)]),
    );
  }
  if (schema.items !== undefined) filled.items = withDefaultsPresent(schema.items);
  const always = Object.entries(schema.properties ?? {})
    .filter(([, value]) => value !== null && typeof value === 'object' && 'default' in value)
    .map(([key]) => key);
  if (always.length > 0) filled.required = [...new Set([...(schema.required ?? []), ...always])].sort();
  return filled;
}
