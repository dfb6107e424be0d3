import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import path from 'node:path';
import type { CliArch } from '@kvad/schemas';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at } from '../../gates/sources.js';
import { moduleOf, PluginFolders } from '../registry/plugin-folders.js';

let folders: PluginFolders;

const kvad = (...words: string[]): { status: number | null; stdout: string; stderr: string; seconds: number } => {
  const start = performance.now();
  const env = { ...process.env, XDG_DATA_HOME: path.join(folders.root, 'data') };
  const { status, stdout, stderr } = spawnSync(process.execPath, [at('cli/bin/kvad.js'), ...words], {
    encoding: 'utf8',
    cwd: folders.project,
    env,
  });
  return { status, stdout, stderr, seconds: (performance.now() - start) / 1000 };
};

const HANGS = 'for (;;);';

beforeAll(() => {
  folders = new PluginFolders();
  const modules = 'data/kvad/plugins/node_modules';
  const plugin = (name: string, module: string, modelType = `${name}_lm`): void => {
    folders.plugin({ name, modelTypes: [modelType], module }, modules);
  };
  folders.write('{ "name": ', modules, 'not-json', 'package.json');
  folders.plugin({ name: 'wrong-types', manifest: { modelTypes: 'all of them' } }, modules);
  plugin('taken', moduleOf({ name: 'taken', modelTypes: ['llama'] }), 'llama');
  plugin('throws', 'throw new Error("no luck");');
  plugin('brand', 'export default { $$type: "other" };');
  plugin('hangs', HANGS);
  plugin('hangs-too', HANGS, 'hangs_too_lm');
  const good = path.join(folders.root, modules, 'kvad-arch-example-data');
  cpSync(at('test/e2e/plugins/kvad-arch-example-data'), good, { recursive: true });
});
afterAll(() => {
  folders.remove();
});

describe('beside hostile plugins in the user’s folder', { timeout: 120_000 }, () => {
  it('kvad arch lists all others, each with a code of its own, and waits for those that hang once', () => {
    const { status, stdout, stderr } = kvad('arch', '--json');
    expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringContaining('is left out') as string });
    const { families, broken, conflicts } = JSON.parse(stdout) as CliArch;
    expect(Object.fromEntries(broken.map(({ name, code }) => [name, code]))).toEqual({
      'not-json': 'KVAD_E_PLUGIN_JSON',
      'wrong-types': 'KVAD_E_PLUGIN_MANIFEST',
      throws: 'KVAD_E_PLUGIN_IMPORT',
      brand: 'KVAD_E_PLUGIN_BRAND',
      hangs: 'KVAD_E_PLUGIN_TIMEOUT',
      'hangs-too': 'KVAD_E_PLUGIN_TIMEOUT',
    });
    expect(conflicts.map(({ claim }) => claim)).toEqual(['llama']);
    const types = families.map(({ model_type: type }) => type);
    expect(types).toContain('example_decoder');
    expect(types).toContain('qwen3');
    expect(types).not.toContain('llama');
  });

  it('kvad arch list runs none of them', () => {
    const { status, stdout } = kvad('arch', 'list', '--json');
    expect(status).toBe(0);
    const { plugins } = JSON.parse(stdout) as { plugins: { name: string }[] };
    expect(plugins.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['hangs', 'kvad-arch-example-data', '@kvad/arch-dense']),
    );
  });

  it('a model of another family runs as if they were not there', () => {
    const { status, stdout } = kvad('arch', 'verify', at('test/fixtures/dense-core/qwen3'));
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('1 of 1 passed') as string });
  });

  it('the one that is needed and hangs is an error, not a wait', () => {
    const { status, stderr } = kvad('arch', 'show', 'hangs_lm');
    expect(status).toBe(1);
    expect(stderr).toMatch(/KVAD_E_PLUGIN_TIMEOUT/);
  });

  it('a type that two claim names both, and the line that decides', () => {
    const { status, stderr } = kvad('arch', 'show', 'llama');
    expect(status).toBe(1);
    expect(stderr).toMatch(/taken .*@kvad\/arch-dense/);
    expect(stderr).toMatch(/hint: .*"prefer": \{ "llama": "taken" \} in .*kvad\.config\.json/);
  });
});
