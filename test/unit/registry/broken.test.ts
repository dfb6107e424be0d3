import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { moduleOf, PluginFolders, type PluginSketch } from './plugin-folders.js';

let folders: PluginFolders;
beforeEach(() => (folders = new PluginFolders()));
afterEach(() => folders.remove());

const GOOD: PluginSketch = { name: 'good', modelTypes: ['good_lm'] };
const resolve = (sketch: PluginSketch, modelType = 'bad_lm'): Promise<unknown> =>
  folders
    .registry({ bundled: [folders.plugin(GOOD), folders.plugin(sketch)] })
    .resolve({ model_type: modelType }, 'config.json');

const bad = (change: Partial<PluginSketch>): PluginSketch => ({ name: 'bad', modelTypes: ['bad_lm'], ...change });

describe('a manifest with a mistake', () => {
  const cases: [string, PluginSketch, string, RegExp][] = [
    ['another interface', bad({ manifest: { apiVersion: 2 } }), 'KVAD_E_PLUGIN_API', /version 2 .* has 1/],
    ['no range', bad({ packageJson: { peerDependencies: {} } }), 'KVAD_E_PLUGIN_PEER', /does not say/],
    [
      'a range of another time',
      bad({ packageJson: { peerDependencies: { '@kvad/core': '>=7' } } }),
      'KVAD_E_PLUGIN_PEER',
      />=7/,
    ],
    [
      'a range that is none',
      bad({ packageJson: { peerDependencies: { '@kvad/core': 'soon' } } }),
      'KVAD_E_PLUGIN_PEER',
      /soon/,
    ],
    [
      'no entry',
      bad({ manifest: { entry: './dist/no.js' } }),
      'KVAD_E_PLUGIN_FILE',
      /entry is .\/dist\/no.js.*not there/,
    ],
    ['an entry outside', bad({ manifest: { entry: '../good/index.js' } }), 'KVAD_E_PLUGIN_FILE', /outside/],
    ['an entry that is a folder', bad({ manifest: { entry: '.' } }), 'KVAD_E_PLUGIN_FILE', /no file/],
    ['schemas outside', bad({ manifest: { schemas: '..' } }), 'KVAD_E_PLUGIN_FILE', /outside/],
  ];

  it.each(cases)('%s: listed as broken, and the error of the type that it claims', async (_, sketch, code, message) => {
    const registry = folders.registry({ bundled: [folders.plugin(GOOD), folders.plugin(sketch)] });
    expect(registry.plugins.map(({ name }) => name)).toEqual(['good']);
    expect(registry.broken).toMatchObject([{ name: 'bad', origin: 'bundled', code }]);
    await expect(registry.resolve({ model_type: 'bad_lm' }, 'config.json')).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
    });
    await expect(registry.resolve({ model_type: 'good_lm' }, 'config.json')).resolves.toMatchObject({
      modelType: 'good_lm',
    });
  });

  it.each<[string, PluginSketch]>([
    ['a wrong type', bad({ manifest: { modelTypes: 'bad_lm' } })],
    ['an unknown key', bad({ manifest: { model_types: [] } })],
    ['an unknown axis', bad({ manifest: { parts: { heads: [] } } })],
    ['no object', bad({ manifest: 'bad_lm' })],
    ['no name', bad({ packageJson: { name: 7 } })],
    ['a name that is a path', bad({ packageJson: { name: '../bad' } })],
    ['a name that a terminal would obey', bad({ packageJson: { name: 'bad\u001b[2J' } })],
    ['a type with a line break', bad({ manifest: { modelTypes: ['bad\nlm'] } })],
  ])('too broken to tell what it claims (%s): a warning, and the type is unknown', async (_, sketch) => {
    const registry = folders.registry({ bundled: [folders.plugin(GOOD), folders.plugin(sketch)] });
    expect(registry.broken).toMatchObject([{ code: 'KVAD_E_PLUGIN_MANIFEST' }]);
    await expect(registry.resolve({ model_type: 'bad_lm' }, 'config.json')).rejects.toMatchObject({
      code: 'KVAD_E_ARCH_UNKNOWN',
    });
  });

  it('no JSON: a warning with the file', () => {
    const directory = folders.plugin(bad({}), 'user/node_modules');
    folders.write('{ "name": ', 'user/node_modules/bad', 'package.json');
    expect(folders.registry().broken).toMatchObject([
      {
        name: 'bad',
        code: 'KVAD_E_PLUGIN_JSON',
        reason: expect.stringContaining(path.join(directory, 'package.json')) as string,
      },
    ]);
  });
});

describe('the user’s folder', () => {
  it('a file where folders of packages are expected: no plugins, no crash', () => {
    folders.write('', 'user', 'node_modules');
    expect(folders.registry().plugins).toEqual([]);
  });

  it('a pipe in the place of a package.json is not waited for', () => {
    const directory = folders.folder('user/node_modules/bad');
    execFileSync('mkfifo', [path.join(directory, 'package.json')]);
    expect(folders.registry().broken).toMatchObject([{ name: 'bad', code: 'KVAD_E_PLUGIN_JSON' }]);
  });
});

describe('a module with a mistake', () => {
  const plugin = (fields: string): string => `export default { $$type: 'kvad.plugin', apiVersion: 1, ${fields} };`;
  const lists = ['feedForwards', 'routers', 'sharedExperts', 'blocks', 'stacks', 'inputs', 'norms', 'activations']
    .map((list) => `${list}: []`)
    .join(', ');
  const family = `{ $$type: 'kvad.family', modelTypes: ['bad_lm'] }`;

  it.each<[string, string, string, RegExp]>([
    ['throws', `throw new Error('no luck');`, 'KVAD_E_PLUGIN_IMPORT', /no luck/],
    ['is no module', `export default {`, 'KVAD_E_PLUGIN_IMPORT', /Unexpected/],
    ['imports what is not there', `import 'nothing-of-this-name';`, 'KVAD_E_PLUGIN_IMPORT', /nothing-of-this-name/],
    ['exports nothing', `export const plugin = 1;`, 'KVAD_E_PLUGIN_BRAND', /is missing/],
    ['exports a function', `export default () => 1;`, 'KVAD_E_PLUGIN_BRAND', /a function/],
    ['has another brand', `export default { $$type: 'other' };`, 'KVAD_E_PLUGIN_BRAND', /"other"/],
    ['has no lists', plugin(`name: 'bad'`), 'KVAD_E_PLUGIN_BRAND', /"families" is no list/],
    [
      'has a family that is none',
      plugin(`name: 'bad', mixers: [], families: [{}], ${lists}`),
      'KVAD_E_PLUGIN_BRAND',
      /none/,
    ],
    [
      'has another name',
      plugin(`name: 'worse', mixers: [], families: [${family}], ${lists}`),
      'KVAD_E_PLUGIN_MISMATCH',
      /worse.*bad/,
    ],
    [
      'brings no family',
      plugin(`name: 'bad', mixers: [], families: [], ${lists}`),
      'KVAD_E_PLUGIN_MISMATCH',
      /none.*bad_lm/,
    ],
    [
      'brings a kind unannounced',
      plugin(`name: 'bad', mixers: [{ kind: 'x' }], families: [${family}], ${lists}`),
      'KVAD_E_PLUGIN_MISMATCH',
      /the mixers x.*none/,
    ],
  ])('%s', async (_, module, code, message) => {
    await expect(resolve(bad({ module }))).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
    });
  });

  const fromOutside = (module: string): Promise<unknown> => {
    folders.plugin(bad({ module }), 'user/node_modules');
    return folders.registry().resolve({ model_type: 'bad_lm' }, 'config.json');
  };

  it.each([
    ['waits for ever', 'setInterval(() => {}, 1000); await new Promise(() => {});'],
    ['computes for ever', 'for (;;);'],
  ])('%s', async (_, module) => {
    await expect(fromOutside(module)).rejects.toMatchObject({
      code: 'KVAD_E_PLUGIN_TIMEOUT',
      params: { plugin: 'bad', seconds: 5 },
    });
  });

  it.each([
    ['throws', `throw new Error('no luck');`, /: no luck$/],
    ['throws what is no error', `throw 'no luck';`, /: no luck$/],
    ['ends the process', 'process.exit(0);', /ends the process .*exit 0/],
    ['brings the process down', 'process.abort();', /ends the process .*SIGABRT/],
    ['never comes to its end', 'await new Promise(() => {});', /ends the process .*exit 13/],
  ])('one from outside %s', async (_, module, message) => {
    await expect(fromOutside(module)).rejects.toMatchObject({
      code: 'KVAD_E_PLUGIN_IMPORT',
      message: expect.stringMatching(message) as string,
    });
  });

  it('prints while it is imported: not on stdout', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const err = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const module = `process.stdout.write('hello'); ${moduleOf({ name: 'bad', modelTypes: ['bad_lm'] })}`;
    await fromOutside(module);
    expect([write.mock.calls.flat(), err.mock.calls.flat()]).toEqual([[], ['hello']]);
  });
});
