/**
 * Puts what starts often into few files: `cli/dist/start/` holds the command line, the library's entry, the worker of a
 * model and the bundled plugins, with one copy of @kvad/core that plugins of others get too. Starting is mostly loading
 * modules, and several hundred small ones take several times as long as the work that they do.
 * The packages' own `dist/` stay as they are: types, tests and other programs use them. Does nothing where no package has
 * been compiled since.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { rolldown } from 'rolldown';
import { fs, glob, path } from 'zx';
import { importedDirectly } from './bundle-imports.mjs';

const root = path.resolve(import.meta.dirname, '..');
const out = path.join(root, 'cli/dist/start');
const packages = (
  await glob(
    ['schemas', 'core', 'arch-registry', 'plugins/*', 'cli'].map((name) => `${name}/package.json`),
    { cwd: root },
  )
).map((file) => ({
  folder: path.join(root, path.dirname(file)),
  ...JSON.parse(readFileSync(path.join(root, file), 'utf8')),
}));
const bundled = packages.filter(({ keywords = [] }) => keywords.includes('kvad-plugin'));

const timeOf = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const scripts = ['bundle.mjs', 'bundle-imports.mjs'].map((name) => path.join(import.meta.dirname, name));
const inputs = [...scripts, ...packages.map(({ folder }) => path.join(folder, 'dist/.tsbuildinfo'))];
if (inputs.every((file) => timeOf(file) < timeOf(path.join(out, 'kvad.js')))) process.exit();

/** @kvad/core as plugins may import it. */
const SURFACE = { '@kvad/core': 'core', '@kvad/core/plugin': 'core-plugin', '@kvad/core/testing': 'core-testing' };
const fileName = (plugin) => `plugin-${plugin.replace(/^.*\//, '')}`;
const fromCli = createRequire(path.join(root, 'cli/package.json'));

const INDEXES = Object.fromEntries(['@kvad/core', '@kvad/arch-registry'].map((name) => [name, fromCli.resolve(name)]));

/** In place of cli/src/host-modules.ts. */
const hostModules = `
  const urls = (files) => Object.fromEntries(Object.entries(files).map(([name, file]) => [name, new URL('./' + file + '.js', HERE).href]));
  export const WORKER_MODULE = new URL('./worker.js', HERE);
  export const TOKENIZER_MODULE = new URL('./tokenizer-worker.js', HERE);
  export const HOST_MODULES = {
    core: urls(${JSON.stringify(SURFACE)}),
    plugins: urls(${JSON.stringify(Object.fromEntries(bundled.map(({ name }) => [name, fileName(name)])))}),
  };
`;

/** `import.meta.url` goes on to say where a module's own package has it: files beside it are found through that. */
const urlOfPackage = `
  import { createRequire } from 'node:module';
  import { dirname, join } from 'node:path';
  import { pathToFileURL } from 'node:url';
  const require = createRequire(HERE);
  export default (name, inside) => pathToFileURL(join(dirname(require.resolve(name + '/package.json')), inside)).href;
`;
const HERE = /\bHERE\b/g;

const placesOfModules = {
  name: 'places-of-modules',
  resolveId: (id) => (id === 'kvad:url-of-package' ? id : null),
  load: (id) => (id === 'kvad:url-of-package' ? urlOfPackage.replace(HERE, 'import.meta.url') : null),
  transform(code, id) {
    if (id === path.join(root, 'cli/dist/host-modules.js')) return hostModules.replace(HERE, 'import.meta.url');
    const owner = packages.find(({ folder }) => id.startsWith(`${folder}/dist/`));
    if (owner === undefined) return null;
    const direct = importedDirectly(code, INDEXES);
    if (!direct.includes('import.meta.url')) return direct;
    const place = `urlOfPackage(${JSON.stringify(owner.name)}, ${JSON.stringify(path.relative(owner.folder, id))})`;
    return `import urlOfPackage from 'kvad:url-of-package';\n${direct.replaceAll('import.meta.url', place)}`;
  },
};

const MAIN = path.join(root, 'cli/dist/commands/main.js');
const RUN = path.join(root, 'cli/dist/commands/run.js');
const WORKER = path.join(root, 'cli/dist/worker.js');

/** Module -> the modules that it imports when it is loaded. */
const imports = new Map();
const graph = {
  name: 'graph',
  buildEnd() {
    for (const id of this.getModuleIds()) imports.set(id, this.getModuleInfo(id)?.importedIds ?? []);
  },
};
const loadedBy = (...ids) => {
  const loaded = new Set();
  for (const id of ids) {
    const waiting = [id];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (!loaded.has(next)) waiting.push(...(imports.get(next) ?? []));
      loaded.add(next);
    }
  }
  return loaded;
};

/** `kvad run` loads three files in its two threads, not one for each set of programs that share some modules. */
const threads = () => {
  threads.made ??= { command: loadedBy(MAIN, RUN), engine: loadedBy(WORKER, fromCli.resolve('@kvad/core/plugin')) };
  return threads.made;
};
const isEntry = (id) => Object.values(input).includes(id) || id === RUN;
const groups = [
  { name: 'shared', priority: 3, test: (id) => !isEntry(id) && threads().command.has(id) && threads().engine.has(id) },
  { name: 'engine', priority: 2, test: (id) => !isEntry(id) && threads().engine.has(id) },
  { name: 'command', priority: 1, test: (id) => !isEntry(id) && threads().command.has(id) },
];

const input = {
  kvad: MAIN,
  index: path.join(root, 'cli/dist/index.js'),
  worker: WORKER,
  'tokenizer-worker': path.join(root, 'cli/dist/tokenizer-worker.js'),
  ...Object.fromEntries(Object.entries(SURFACE).map(([name, file]) => [file, fromCli.resolve(name)])),
  ...Object.fromEntries(bundled.map(({ name, folder, kvad }) => [fileName(name), path.join(folder, kvad.entry)])),
};

const bundle = await rolldown({
  input,
  platform: 'node',
  // Only this one is imported for what it does.
  treeshake: {
    moduleSideEffects: [
      { test: /\/reflect-metadata\//, sideEffects: true },
      { test: /./, sideEffects: false },
    ],
  },
  plugins: [placesOfModules, graph],
});
await fs.remove(out);
const { output } = await bundle.write({
  dir: out,
  format: 'esm',
  minify: true, // half the bytes, and reading them is most of what is left to do
  chunkFileNames: '[name]-[hash].js',
  codeSplitting: { groups },
});
writeFileSync(path.join(out, 'THIRD-PARTY.txt'), notices(output.flatMap(({ moduleIds = [] }) => moduleIds)));

/** Licences of the packages whose code is in the bundle. */
function notices(modules) {
  const folders = modules.map((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0]).filter(Boolean);
  return [...new Set(folders)]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
      const file = fs.readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file === undefined ? `Licence: ${license}` : readFileSync(path.join(folder, file), 'utf8').trim();
      return `${name} ${version}\n\n${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}
