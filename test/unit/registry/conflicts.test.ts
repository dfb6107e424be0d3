import { afterEach, beforeEach, expect, it } from 'vitest';
import { PluginFolders } from './plugin-folders.js';

let folders: PluginFolders;
beforeEach(() => (folders = new PluginFolders()));
afterEach(() => folders.remove());

const twoPlugins = (): ReturnType<PluginFolders['registry']> =>
  folders.registry({
    bundled: [
      folders.plugin({ name: 'one', modelTypes: ['shared_lm', 'one_lm'], mixers: ['shared-mixer', 'one-mixer'] }),
      folders.plugin({ name: 'two', modelTypes: ['shared_lm'], mixers: ['shared-mixer'] }),
    ],
  });

it('a type claimed twice is an error where it is needed, with both names and the line that decides', async () => {
  const registry = twoPlugins();
  expect([...registry.modelTypes.keys()]).toEqual(['one_lm']);
  expect(registry.conflicts.map(({ claim }) => claim)).toEqual(['shared_lm', 'mixer:shared-mixer']);
  await expect(registry.resolve({ model_type: 'one_lm' }, 'config.json')).resolves.toMatchObject({
    modelType: 'one_lm',
  });
  await expect(registry.resolve({ model_type: 'shared_lm' }, 'config.json')).rejects.toMatchObject({
    code: 'KVAD_E_PLUGIN_CONFLICT',
    params: { claim: 'shared_lm', plugins: ['one (bundled with kvad)', 'two (bundled with kvad)'] },
    hint: expect.stringContaining('"prefer": { "shared_lm": "one" } in kvad.config.json') as string,
  });
});

it('a kind claimed twice is an error where it is needed', async () => {
  await expect(twoPlugins().require([{ axis: 'mixer', kind: 'shared-mixer' }])).rejects.toMatchObject({
    code: 'KVAD_E_PLUGIN_CONFLICT',
    params: { claim: 'mixer:shared-mixer' },
  });
});

it('prefer decides, and the other plugin comes without what it lost', async () => {
  folders.config({ prefer: { shared_lm: 'two', 'mixer:shared-mixer': 'two' } });
  const registry = twoPlugins();
  expect(registry.conflicts).toEqual([]);

  const shared = await registry.resolve({ model_type: 'shared_lm' }, 'config.json');
  expect(shared.plugin.found.name).toBe('two');

  const { plugin } = await registry.family('one_lm');
  expect(plugin.found.name).toBe('one');
  expect(plugin.plugin.mixers.map(({ kind }) => kind)).toEqual(['one-mixer']);
  expect(plugin.plugin.families.flatMap(({ modelTypes }) => modelTypes)).toEqual(['one_lm']);
});

it('a preference for a plugin that does not claim it decides nothing', async () => {
  folders.config({ prefer: { shared_lm: 'three' } });
  await expect(twoPlugins().family('shared_lm')).rejects.toMatchObject({ code: 'KVAD_E_PLUGIN_CONFLICT' });
});

it('what core brings cannot be claimed', async () => {
  const registry = folders.registry({
    bundled: [folders.plugin({ name: 'bold', manifest: { parts: { norms: ['rms'] } } })],
  });
  await expect(registry.require([{ axis: 'norm', kind: 'rms' }])).rejects.toMatchObject({
    code: 'KVAD_E_PLUGIN_CONFLICT',
    params: { plugins: ['@kvad/core itself', 'bold (bundled with kvad)'] },
  });
});
