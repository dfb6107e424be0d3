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
const inputs = [import.meta.filename, ...packages.map(({ folder }) => path.join(folder, 'dist/.tsbuildinfo'))];
if (inputs.every((file) => timeOf(file) < timeOf(path.join(out, 'kvad.js')))) process.exit();

/** @kvad/core as plugins may import it. */
const SURFACE = { '@kvad/core': 'core', '@kvad/core/plugin': 'core-plugin', '@kvad/core/testing': 'core-testing' };
const fileName = (plugin) => `plugin-${plugin.replace(/^.*\//, '')}`;
const fromCore = createRequire(path.join(root, 'arch-registry/package.json'));

/** In place of cli/src/host-modules.ts. */
const hostModules = `
  const urls = (files) => Object.fromEntries(Object.entries(files).map(([name, file]) => [name, new URL('./' + file + '.js', HERE).href]));
  export const WORKER_MODULE = new URL('./worker.js', HERE);
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
    const owner = packages.find(({ folder }) => id.startsWith(`${folder}/`));
    if (owner === undefined || !code.includes('import.meta.url')) return null;
    const place = `urlOfPackage(${JSON.stringify(owner.name)}, ${JSON.stringify(path.relative(owner.folder, id))})`;
    return `import urlOfPackage from 'kvad:url-of-package';\n${code.replaceAll('import.meta.url', place)}`;
  },
};

const bundle = await rolldown({
  input: {
    kvad: path.join(root, 'cli/dist/commands/main.js'),
    index: path.join(root, 'cli/dist/index.js'),
    worker: path.join(root, 'cli/dist/worker.js'),
    ...Object.fromEntries(Object.entries(SURFACE).map(([name, file]) => [file, fromCore.resolve(name)])),
    ...Object.fromEntries(bundled.map(({ name, folder, kvad }) => [fileName(name), path.join(folder, kvad.entry)])),
  },
  platform: 'node',
  // Only this one is imported for what it does.
  treeshake: {
    moduleSideEffects: [
      { test: /\/reflect-metadata\//, sideEffects: true },
      { test: /./, sideEffects: false },
    ],
  },
  plugins: [placesOfModules],
});
await fs.remove(out);
const { output } = await bundle.write({ dir: out, format: 'esm', chunkFileNames: 'part-[hash].js' });
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
