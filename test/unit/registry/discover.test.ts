import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PluginFolders } from './plugin-folders.js';

let folders: PluginFolders;
beforeEach(() => (folders = new PluginFolders()));
afterEach(() => folders.remove());

const names = (registry: { plugins: readonly { name: string; origin: string }[] }): string[] =>
  registry.plugins.map(({ name, origin }) => `${name} ${origin}`);

describe('the four places', () => {
  it('are searched in order, and each plugin tells where it was found', () => {
    folders.plugin({ name: 'by-flag' }, 'elsewhere');
    folders.plugin({ name: 'by-project' }, 'project');
    folders.plugin({ name: 'by-user' }, 'user/node_modules');
    folders.plugin({ name: 'by-user-too' }, 'user/node_modules/@someone');
    const bundled = folders.plugin({ name: 'by-us' });
    const file = folders.config({ plugins: ['./by-project'] });

    const registry = folders.registry({ plugins: ['../elsewhere/by-flag'], bundled: [bundled] });

    expect(names(registry)).toEqual([
      'by-flag flag',
      'by-project project',
      'by-user-too user',
      'by-user user',
      'by-us bundled',
    ]);
    expect(registry.plugins.map(({ because }) => because)).toEqual([
      '--plugin ../elsewhere/by-flag',
      file,
      folders.user,
      folders.user,
      'bundled with kvad',
    ]);
    expect(registry.broken).toEqual([]);
  });

  it('run no code of what they find', () => {
    const mark = path.join(folders.root, 'ran');
    const directory = folders.plugin({
      name: 'acts',
      module: `(await import('node:fs')).writeFileSync(${JSON.stringify(mark)}, '')`,
    });
    folders.registry({ bundled: [directory] });
    expect(existsSync(mark)).toBe(false);
  });

  it('hold the same folder twice, which counts once', () => {
    const directory = folders.plugin({ name: 'twice' });
    expect(names(folders.registry({ plugins: [directory], bundled: [directory] }))).toEqual(['twice flag']);
  });

  it('hold two packages of one name: the first is used, the other listed', () => {
    const mine = folders.plugin({ name: 'same' }, 'mine');
    const bundled = folders.plugin({ name: 'same' });
    const registry = folders.registry({ plugins: [mine], bundled: [bundled] });
    expect(names(registry)).toEqual(['same flag']);
    expect(registry.broken).toMatchObject([{ name: 'same', origin: 'bundled', code: 'KVAD_E_PLUGIN_SHADOWED' }]);
  });
});

describe('--plugin', () => {
  it('finds a package where Node would, and in the user folder', () => {
    folders.plugin({ name: 'above' }, 'node_modules');
    folders.plugin({ name: 'installed' }, 'user/node_modules');
    const registry = folders.registry({ plugins: ['above', 'installed'] });
    expect(names(registry)).toEqual(['above flag', 'installed flag']);
  });

  it.each(['./nothing', 'nothing', '@nobody/nothing'])('%s, which is not there, is refused', (plugin) => {
    expect(() => folders.registry({ plugins: [plugin] })).toThrow(
      expect.objectContaining({ code: 'KVAD_E_PLUGIN_NOT_FOUND', params: { plugin, because: `--plugin ${plugin}` } }),
    );
  });

  it('on what is a file, not a folder, is refused', () => {
    const plugin = folders.write('{}', 'file.json');
    expect(() => folders.registry({ plugins: [plugin] })).toThrow(
      expect.objectContaining({ code: 'KVAD_E_PLUGIN_NOT_FOUND', params: { plugin, because: `--plugin ${plugin}` } }),
    );
  });

  it('on a package without a kvad field is refused', () => {
    const directory = folders.folder('plain');
    folders.write('{"name":"plain","version":"1.0.0"}', 'plain', 'package.json');
    expect(() => folders.registry({ plugins: [directory] })).toThrow(
      expect.objectContaining({ code: 'KVAD_E_PLUGIN_NO_MANIFEST' }),
    );
  });

  it('on a folder without package.json is refused', () => {
    expect(() => folders.registry({ plugins: [folders.folder('empty')] })).toThrow(
      expect.objectContaining({ code: 'KVAD_E_PLUGIN_NO_MANIFEST' }),
    );
  });
});

describe('the user folder', () => {
  it('has packages that are no plugins, and they are passed over', () => {
    folders.write('{"name":"left-pad","version":"1.0.0"}', 'user/node_modules/left-pad', 'package.json');
    folders.folder('user/node_modules/.bin');
    const registry = folders.registry();
    expect([...registry.plugins, ...registry.broken]).toEqual([]);
  });

  it('need not exist', () => {
    expect(folders.registry({ userDirectory: path.join(folders.root, 'no') }).plugins).toEqual([]);
  });
});

describe('kvad.config.json', () => {
  it('is the nearest one, upwards', () => {
    folders.plugin({ name: 'near' }, 'project');
    folders.config({ plugins: ['./near'] });
    const deeper = folders.folder('project/a/b');
    expect(names(folders.registry({ workingDirectory: deeper }))).toEqual(['near project']);
  });

  it.each([
    ['{ "plugins": [', 'JSON'],
    ['{ "plugin": [] }', 'it has an unknown key "plugin"'],
    ['{ "plugins": "x" }', '"plugins" must be array'],
    ['{ "prefer": { "x": 1 } }', '"prefer.x" must be string'],
  ])('%s is refused', (text, reason) => {
    const file = folders.config(text);
    expect(() => folders.registry()).toThrow(
      expect.objectContaining({
        code: 'KVAD_E_PROJECT_CONFIG',
        params: { file, reason: expect.stringContaining(reason) as string },
      }),
    );
  });

  it('brings no plugin out of a folder that is a model', () => {
    folders.plugin({ name: 'smuggled' }, 'project');
    folders.config({ plugins: ['./smuggled'] });
    folders.write('{}', 'project', 'config.json');
    folders.write('', 'project', 'model.safetensors');
    expect(() => folders.registry()).toThrow(expect.objectContaining({ code: 'KVAD_E_PLUGIN_IN_MODEL' }));
  });

  it('brings no plugin that is the folder of a model', () => {
    const directory = folders.plugin({ name: 'smuggled' }, 'models');
    folders.write('{}', 'models/smuggled', 'config.json');
    folders.write('{}', 'models/smuggled', 'model.safetensors.index.json');
    expect(() => folders.registry({ plugins: [directory] })).toThrow(
      expect.objectContaining({ code: 'KVAD_E_PLUGIN_IN_MODEL' }),
    );
  });
});
