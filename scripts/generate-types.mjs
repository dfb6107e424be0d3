/**
 * Makes the TypeScript types out of the JSON Schemas, which are the one source:
 *   schemas/json/X.schema.json                 -> schemas/src/generated/X.ts
 *   plugins/P/src/families/T.schema.json       -> plugins/P/src/generated/T.ts
 * A family's type is the config after its `default`s have been filled in: such a key is always there.
 * `--check` writes nothing and fails where a file differs (the gate against drift).
 */
import { compile } from 'json-schema-to-typescript';
import { argv, fs, glob, path } from 'zx';

const root = path.resolve(import.meta.dirname, '..');
const shared = path.join(root, 'schemas/json');

const sources = [
  ...(await glob('schemas/json/*.schema.json', { cwd: root })).map((file) => ({
    file,
    to: `schemas/src/generated/${base(file)}.ts`,
  })),
  ...(await glob('plugins/*/src/families/*.schema.json', { cwd: root })).map((file) => ({
    file,
    to: path.join(path.dirname(file), '..', 'generated', `${base(file)}.ts`),
  })),
];

let drift = 0;
for (const { file, to } of sources.sort((a, b) => a.file.localeCompare(b.file))) {
  const text = await typesOf(file);
  const target = path.join(root, to);
  const old = (await fs.pathExists(target)) ? await fs.readFile(target, 'utf8') : '';
  if (old === text) continue;
  if (argv.check) {
    console.error(`${to} differs from ${file}: run npm run generate`);
    drift++;
  } else {
    await fs.outputFile(target, text);
    console.log(`wrote ${to}`);
  }
}
process.exitCode = drift > 0 ? 1 : 0;

function base(file) {
  return path.basename(file, '.schema.json');
}

async function typesOf(file) {
  const json = await fs.readJson(path.join(root, file));
  return compile(file.startsWith('plugins/') ? withDefaultsPresent(json) : json, json.title ?? base(file), {
    cwd: path.dirname(path.join(root, file)),
    bannerComment: `/** Generated from ${path.basename(file)} by \`npm run generate\`: change that file. */`,
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    style: { singleQuote: true, printWidth: 120 },
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

function withDefaultsPresent(json) {
  const always = Object.entries(json.properties ?? {})
    .filter(([, value]) => 'default' in value)
    .map(([key]) => key);
  return { ...json, required: [...new Set([...(json.required ?? []), ...always])] };
}
