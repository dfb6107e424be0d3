import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { addPlugin, removePlugin, type AddedPlugin, type RegistryOptions } from '@kvad/arch-registry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { moduleOf, PluginFolders, type PluginSketch } from './plugin-folders.js';

let folders: PluginFolders;
beforeEach(() => (folders = new PluginFolders()));
afterEach(() => folders.remove());

const GOOD: PluginSketch = { name: 'kvad-arch-good', modelTypes: ['good_lm'] };
const installed = (): string[] => {
  const modules = path.join(folders.user, 'node_modules');
  return existsSync(modules) ? readdirSync(modules) : [];
};

const add = (spec: string, places: Partial<RegistryOptions> = {}): Promise<AddedPlugin> =>
  addPlugin({
    spec,
    places: { plugins: [], workingDirectory: folders.project, userDirectory: folders.user, bundled: [], ...places },
    env: process.env,
    signal: new AbortController().signal,
  });

describe('adding a plugin', () => {
  it('puts a copy of a folder into the user’s folder, where it is found', async () => {
    const source = folders.plugin(GOOD, 'project');
    const { plugin, replaced } = await add('./kvad-arch-good');
    expect({ ...plugin, replaced }).toMatchObject({ name: 'kvad-arch-good', origin: 'user', replaced: false });
    expect(path.relative(source, plugin.directory)).toMatch(/^\.\./);
    await expect(folders.registry().family('good_lm')).resolves.toMatchObject({ modelType: 'good_lm' });
    expect(readdirSync(folders.user)).toEqual(['node_modules']);
  });

  it('replaces one of the same name, and removes it by that name', async () => {
    folders.plugin(GOOD, 'project');
    await add('./kvad-arch-good');
    folders.plugin({ ...GOOD, packageJson: { version: '2.0.0' } }, 'project');
    const { plugin, replaced } = await add('./kvad-arch-good');
    expect({ version: plugin.version, replaced }).toEqual({ version: '2.0.0', replaced: true });
    removePlugin('kvad-arch-good', folders.user);
    expect(installed()).toEqual([]);
  });

  const outside = (sketch: Partial<PluginSketch>): PluginSketch => ({
    ...GOOD,
    name: 'kvad-arch-bad',
    modelTypes: ['bad_lm'],
    ...sketch,
  });
  it.each<[string, PluginSketch, string]>([
    ['another interface', outside({ manifest: { apiVersion: 2 } }), 'KVAD_E_PLUGIN_API'],
    ['another core', outside({ packageJson: { peerDependencies: { '@kvad/core': '^9' } } }), 'KVAD_E_PLUGIN_PEER'],
    ['wrong types', outside({ manifest: { modelTypes: 7 } }), 'KVAD_E_PLUGIN_MANIFEST'],
    ['no kvad field', outside({ packageJson: { kvad: undefined } }), 'KVAD_E_PLUGIN_NO_MANIFEST'],
    ['a module that throws', outside({ module: 'throw new Error("no");' }), 'KVAD_E_PLUGIN_IMPORT'],
    ['another brand', outside({ module: 'export default { $$type: "other" };' }), 'KVAD_E_PLUGIN_BRAND'],
    ['a type that is taken', outside({ modelTypes: ['taken_lm'] }), 'KVAD_E_PLUGIN_CONFLICT'],
  ])('%s: refused, and the folder is as it was', async (_, sketch, code) => {
    const taken = folders.plugin({ name: 'taken', modelTypes: ['taken_lm'] });
    folders.plugin(GOOD, 'project');
    await add('./kvad-arch-good');
    folders.plugin(sketch, 'project');
    await expect(add('./kvad-arch-bad', { bundled: [taken] })).rejects.toMatchObject({ code });
    expect(installed()).toEqual(['kvad-arch-good']);
    expect(readdirSync(folders.user)).toEqual(['node_modules']);
  });

  it('no code runs before the manifest has been checked, and no script of npm ever', async () => {
    const mark = path.join(folders.root, 'mark');
    const touch = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(mark)}, '');`;
    const scripts = Object.fromEntries(
      ['preinstall', 'install', 'postinstall', 'prepare', 'prepack'].map((name) => [name, `touch ${mark}`]),
    );
    folders.plugin({ ...GOOD, packageJson: { scripts }, module: touch, manifest: { apiVersion: 9 } }, 'project');
    await expect(add('./kvad-arch-good')).rejects.toMatchObject({ code: 'KVAD_E_PLUGIN_API' });
    expect(existsSync(mark)).toBe(false);
    folders.plugin({ ...GOOD, packageJson: { scripts } }, 'project');
    await add('./kvad-arch-good');
    expect(existsSync(mark)).toBe(false);
  });

  it('a type that is taken may be added where kvad.config.json decides', async () => {
    const taken = folders.plugin({ name: 'taken', modelTypes: ['good_lm'] });
    folders.plugin(GOOD, 'project');
    folders.config({ prefer: { good_lm: 'kvad-arch-good' } });
    await expect(add('./kvad-arch-good', { bundled: [taken] })).resolves.toMatchObject({ replaced: false });
  });

  it('what a plugin depends on lies inside of it', async () => {
    const library = folders.plugin({ name: 'a-library' }, 'project');
    folders.plugin({ ...GOOD, packageJson: { dependencies: { 'a-library': `file:${library}` } } }, 'project');
    await add('./kvad-arch-good');
    expect(installed()).toEqual(['kvad-arch-good']);
    const inside = path.join(folders.user, 'node_modules/kvad-arch-good/node_modules/a-library/package.json');
    expect(JSON.parse(readFileSync(inside, 'utf8'))).toMatchObject({ name: 'a-library' });
  });

  it('the folder of plugins is not made for a plugin that is refused', async () => {
    const userDirectory = path.join(folders.root, 'new', 'plugins');
    folders.plugin({ ...GOOD, module: moduleOf({ name: 'other' }) }, 'project');
    await expect(add('./kvad-arch-good', { userDirectory })).rejects.toMatchObject({ code: 'KVAD_E_PLUGIN_MISMATCH' });
    expect(existsSync(path.join(folders.root, 'new'))).toBe(false);
  });

  it.each([
    ['git+https://example.org/x.git', 'KVAD_E_PLUGIN_SPEC'],
    ['owner/name', 'KVAD_E_PLUGIN_SPEC'],
    ['--global', 'KVAD_E_PLUGIN_SPEC'],
    ['foo@npm:bar', 'KVAD_E_PLUGIN_SPEC'],
    ['./nowhere', 'KVAD_E_PLUGIN_SPEC'],
    ['', 'KVAD_E_PLUGIN_SPEC'],
  ])('%s is not given to npm', async (spec, code) => {
    await expect(add(spec)).rejects.toMatchObject({ code });
  });

  it('the folder of a model is none of a plugin', async () => {
    const folder = folders.plugin(GOOD, 'project');
    folders.write('{}', path.relative(folders.root, folder), 'config.json');
    folders.write('', path.relative(folders.root, folder), 'model.safetensors');
    await expect(add('./kvad-arch-good')).rejects.toMatchObject({ code: 'KVAD_E_PLUGIN_IN_MODEL' });
  });

  it('removes nothing but packages of the user’s folder', () => {
    folders.write('keep', 'user', 'keep');
    for (const name of ['..', '../keep', '.', '', 'nothing']) {
      expect(() => removePlugin(name, folders.user)).toThrow(
        expect.objectContaining({ code: 'KVAD_E_PLUGIN_NOT_ADDED' }),
      );
    }
    expect(readdirSync(folders.user)).toEqual(['keep']);
  });
});
