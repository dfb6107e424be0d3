import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { moduleOf, PluginFolders } from './plugin-folders.js';

let folders: PluginFolders;
beforeEach(() => (folders = new PluginFolders()));
afterEach(() => folders.remove());

const threeTypes = (): ReturnType<PluginFolders['registry']> =>
  folders.registry({ bundled: [folders.plugin({ name: 'a', modelTypes: ['alpha', 'alpha2', 'text_of_alpha'] })] });

describe('a model type', () => {
  it.each([
    [{ model_type: 'alpha' }, 'alpha', 'model_type'],
    [{ model_type: 'alpha', text_config: { model_type: 'text_of_alpha' } }, 'alpha', 'model_type'],
    [
      { model_type: 'wrapper', text_config: { model_type: 'text_of_alpha' } },
      'text_of_alpha',
      'text_config.model_type',
    ],
    [{ text_config: { model_type: 'alpha2' } }, 'alpha2', 'text_config.model_type'],
  ])('of %j is %s', async (config, modelType, key) => {
    await expect(threeTypes().resolve(config, 'config.json')).resolves.toMatchObject({ modelType, key });
  });

  it.each([
    [{ model_type: 'alpa' }, 'alpa', 'model_type', ['alpha', 'alpha2']],
    [{ model_type: 'Alpha' }, 'Alpha', 'model_type', ['alpha', 'alpha2']],
    [{ model_type: 'alpha_next' }, 'alpha_next', 'model_type', []],
    [{ text_config: { model_type: 'alph' } }, 'alph', 'text_config.model_type', ['alpha', 'alpha2']],
  ])('of %j is unknown: never a part of a name, but the nearest is suggested', async (config, value, key, nearest) => {
    await expect(threeTypes().resolve(config, 'config.json')).rejects.toMatchObject({
      code: 'KVAD_E_ARCH_UNKNOWN',
      params: { value, key, file: 'config.json', nearest, known: ['alpha', 'alpha2', 'text_of_alpha'] },
    });
  });

  it.each([
    [{}, 'not there'],
    [{ model_type: null }, 'null'],
    [{ model_type: 7 }, '7'],
    [{ model_type: '' }, '""'],
    [{ model_type: ['alpha'] }, '["alpha"]'],
  ])('of %j is missing', async (config, found) => {
    await expect(threeTypes().resolve(config, 'config.json')).rejects.toMatchObject({
      code: 'KVAD_E_ARCH_MISSING',
      params: { file: 'config.json', found },
    });
  });

  it('is found by name too', async () => {
    const registry = threeTypes();
    expect([...registry.modelTypes.keys()]).toEqual(['alpha', 'alpha2', 'text_of_alpha']);
    await expect(registry.family('alpha2')).resolves.toMatchObject({ modelType: 'alpha2' });
    await expect(registry.family('beta')).rejects.toMatchObject({ code: 'KVAD_E_ARCH_UNKNOWN' });
  });
});

describe('a plugin', () => {
  it('is imported when a type of its own is first needed, once', async () => {
    const mark = path.join(folders.root, 'imports');
    const sketch = { name: 'lazy', modelTypes: ['lazy_lm'], mixers: ['lazy-mixer'] };
    const act = `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(mark)}, 'x');`;
    const lazy = folders.plugin({ ...sketch, module: act + moduleOf(sketch) });
    const other = folders.plugin({ name: 'other', modelTypes: ['other_lm'] });
    const registry = folders.registry({ bundled: [lazy, other] });

    await registry.resolve({ model_type: 'other_lm' }, 'config.json');
    await registry.require([{ axis: 'norm', kind: 'rms' }]);
    expect(existsSync(mark)).toBe(false);

    const [{ plugin }, loaded] = await Promise.all([
      registry.family('lazy_lm'),
      registry.require([{ axis: 'mixer', kind: 'lazy-mixer' }]),
    ]);
    expect(loaded).toEqual([plugin]);
    const { readFileSync } = await import('node:fs');
    expect(readFileSync(mark, 'utf8')).toBe('x');
  });

  it('brings kinds from wherever; kinds of core need no plugin', async () => {
    const registry = folders.registry({
      bundled: [
        folders.plugin({ name: 'one', mixers: ['first', 'second'] }),
        folders.plugin({ name: 'two', mixers: ['third'] }),
      ],
    });
    const needed = (['first', 'second', 'third'] as const).map((kind) => ({ axis: 'mixer' as const, kind }));
    const loaded = await registry.require([...needed, { axis: 'block', kind: 'residual' }]);
    expect(loaded.map(({ found }) => found.name)).toEqual(['one', 'two']);

    await expect(registry.require([{ axis: 'mixer', kind: 'fourth' }])).rejects.toMatchObject({
      code: 'KVAD_E_PART_UNKNOWN',
      params: { axis: 'mixer', kind: 'fourth', known: ['first', 'second', 'third'] },
    });
  });

  it('may say who brings a kind that it names: where that is not there, the error says it', async () => {
    const needs = { 'kvad-arch-other': { mixers: ['elsewhere'] } };
    const registry = folders.registry({ bundled: [folders.plugin({ name: 'needy', manifest: { needs } })] });
    const missing = registry.require([{ axis: 'mixer', kind: 'elsewhere' }]);
    await expect(missing).rejects.toMatchObject({
      code: 'KVAD_E_PART_UNKNOWN',
      params: { axis: 'mixer', kind: 'elsewhere', provider: 'kvad-arch-other' },
      hint: 'name kvad-arch-other, which brings it, with --plugin or in kvad.config.json',
    });
    await expect(registry.require([{ axis: 'mixer', kind: 'nowhere' }])).rejects.toMatchObject({
      params: { provider: null },
      hint: 'name the plugin that brings it, with --plugin or in kvad.config.json',
    });
  });

  it('gets the core of the host, though it has a copy beside it', async () => {
    const sketch = { name: 'own-core', modelTypes: ['own_lm'] };
    const directory = folders.plugin(sketch, 'user/node_modules');
    folders.write(
      '{"name":"@kvad/core","version":"9.0.0","type":"module","exports":{"./plugin":"./p.js"}}',
      'user/node_modules/@kvad/core',
      'package.json',
    );
    folders.write(`throw new Error('the copy was run');`, 'user/node_modules/@kvad/core', 'p.js');
    const registry = folders.registry({ bundled: [directory] });
    await expect(registry.family('own_lm')).resolves.toMatchObject({ family: { $$type: 'kvad.family' } });
  });
});
