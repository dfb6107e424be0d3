import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { schemaCompiler } from '@kvad/core';
import { schema, type CliArchCheck } from '@kvad/schemas';
import { fixtureDirectory, writeSafetensors } from '@kvad/core/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../cli/dist/commands/main.js';
import { fakeIo } from '../unit/cli/fake-io.js';
import { LocalHub } from './local-hub.js';
import { temporaryHome, type Home } from './temporary-home.js';

let hub: LocalHub;
let home: Home;
const place = mkdtempSync(path.join(tmpdir(), 'kvad-check-'));

beforeAll(async () => {
  hub = await LocalHub.start();
  home = temporaryHome(hub);
});
afterEach(() => {
  hub.requests.length = 0;
});
afterAll(async () => {
  await hub.stop();
  home.remove();
  rmSync(place, { recursive: true });
});

/** A copy of a fixture, changed. */
const variant = (name: string, change: (folder: string) => void): string => {
  const folder = path.join(place, name);
  cpSync(fixtureDirectory('dense-core/llama'), folder, { recursive: true });
  change(folder);
  return folder;
};

const config = (folder: string, change: Record<string, unknown>): void => {
  const file = path.join(folder, 'config.json');
  const before = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  writeFileSync(file, JSON.stringify({ ...before, ...change }));
};

const validate = schemaCompiler({ validateSchema: true }).compile(schema('cli-arch-check'));

const check = async (model: string, ...flags: string[]): Promise<CliArchCheck & { readonly exit: number }> => {
  const io = fakeIo({ env: home.env });
  const exit = await runCommandLine(['arch', 'check', model, '--json', ...flags], io);
  expect(io.err()).toBe('');
  const result = JSON.parse(io.out()) as CliArchCheck;
  expect(validate(result), JSON.stringify(validate.errors)).toBe(true);
  return { ...result, exit };
};

describe('kvad arch check', () => {
  it('of a folder says what it is, what it costs, and that it runs', async () => {
    const found = await check(fixtureDirectory('dense-core/qwen2_sharded'));
    expect(found).toMatchObject({
      exit: 0,
      runs: true,
      source: 'folder',
      family: 'qwen2',
      shape: { layers: 3, mixers: [{ kind: 'attention', count: 3 }] },
      weights: { missing: [], unexpected: [], misshaped: [] },
      problems: [],
      bytes_read: null,
    });
    expect(found.memory!.f32).toBe(4 * found.parameters!.total);
    expect(found.memory!.q4).toBeLessThan(found.memory!.q8);
  });

  it('goes on behind what is wrong: an unknown key, and tensors of another shape, and missing ones', async () => {
    const folder = variant('wrong', (at) => {
      config(at, { num_hidden_layers: 4, intermediate_size: 98, strange: true });
    });
    const found = await check(folder);
    expect(found).toMatchObject({ exit: 1, runs: false, config: { refused: [{ key: 'strange', value: true }] } });
    expect(found.problems.map(({ code }) => code)).toEqual(['KVAD_E_CONFIG_UNKNOWN_KEY', 'KVAD_E_WEIGHTS_MISSING']);
    expect(found.weights).toMatchObject({ missing: { length: 9 }, misshaped: { length: 9 } });
    const lenient = await check(folder, '--lenient');
    expect(lenient.problems.map(({ code }) => code)).toEqual(['KVAD_E_WEIGHTS_MISSING']);
  });

  it.each<[string, string, (folder: string) => void]>([
    ['KVAD_E_ARCH_UNKNOWN', 'no such type', (at) => config(at, { model_type: 'nonsense' })],
    ['KVAD_E_CONFIG_READ', 'no JSON', (at) => writeFileSync(path.join(at, 'config.json'), '{')],
    ['KVAD_E_CONFIG_INVALID', 'no number', (at) => config(at, { hidden_size: 'large' })],
    ['KVAD_E_CONFIG_QUANTIZED', 'quantised', (at) => config(at, { quantization_config: { quant_method: 'gptq' } })],
    ['KVAD_E_WEIGHTS_UNEXPECTED', 'layers left over', (at) => config(at, { num_hidden_layers: 2 })],
    ['KVAD_E_MODEL_FOLDER_NO_WEIGHTS', 'no weights', (at) => rmSync(path.join(at, 'model.safetensors'))],
  ])('%s: %s', async (code, name, change) => {
    const found = await check(variant(name.replaceAll(' ', '-'), change));
    expect(found).toMatchObject({ exit: 1, runs: false, problems: [{ code }] });
  });

  it('never runs JavaScript that lies in the folder of a model', async () => {
    const mark = path.join(place, 'mark');
    const folder = variant('with-code', (at) => {
      const code = `require('node:fs').writeFileSync(${JSON.stringify(mark)}, '');`;
      for (const name of ['index.js', 'modeling_llama.js', 'index.cjs', 'kvad.config.js']) {
        writeFileSync(path.join(at, name), code);
      }
      const kvad = { apiVersion: 1, modelTypes: ['llama'], entry: './index.js' };
      writeFileSync(path.join(at, 'package.json'), JSON.stringify({ name: 'kvad-arch-evil', version: '1.0.0', kvad }));
    });
    expect(await check(folder)).toMatchObject({ runs: true });
    expect(readdirSync(place)).not.toContain('mark');
    const io = fakeIo({ env: home.env });
    expect(await runCommandLine(['arch', 'check', folder, '--plugin', folder], io)).toBe(1);
    expect(io.err()).toContain('KVAD_E_PLUGIN_IN_MODEL');
    expect(readdirSync(place)).not.toContain('mark');
  });
});

describe('kvad arch check of a model of the Hub', () => {
  it('finds what a check of its folder finds, and loads config, index and headers only', async () => {
    const folder = fixtureDirectory('dense-core/qwen2_sharded');
    hub.add('owner/sharded', folder);
    const { model: _, source: __, bytes_read: read, ...remote } = await check('owner/sharded');
    const { model: _1, source: _2, bytes_read: _3, ...local } = await check(folder);
    const named = JSON.stringify(local).replaceAll(folder, 'owner/sharded');
    expect(JSON.parse(JSON.stringify(remote))).toEqual(JSON.parse(named));
    const weights = hub.requests.filter(({ url, headers }) => url.includes('/lfs/') && headers.range === undefined);
    expect(weights).toEqual([]);
    expect(read).toBeGreaterThan(0);
    expect(hub.requests.filter(({ url }) => url.includes('tokenizer'))).toEqual([]);
  });

  it('loads few bytes of a large file', async () => {
    const size = 8 * 2 ** 20;
    const tensor = { dtype: 'F32', shape: [size / 4], bytes: new Uint8Array(size) };
    const file = path.join(place, 'large.safetensors');
    writeSafetensors(file, { 'some.weight': tensor });
    hub.add('owner/large', { 'config.json': '{"model_type":"nonsense"}', 'model.safetensors': readFileSync(file) });
    expect(await check('owner/large')).toMatchObject({ runs: false, problems: [{ code: 'KVAD_E_ARCH_UNKNOWN' }] });
    const { bytes_read: read } = await check('owner/large');
    expect(read).toBeLessThan(2 ** 15);
  });

  it('names a model that holds another format, and leaves nothing behind', async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('kvad-headers-'));
    hub.add('owner/gguf', { 'config.json': '{"model_type":"llama"}', 'model.gguf': 'GGUF' });
    const { exit, problems } = await check('owner/gguf');
    expect(exit).toBe(1);
    expect(problems).toMatchObject([
      { code: 'KVAD_E_MODEL_FOLDER_FORMAT', message: expect.stringContaining('owner/gguf holds a GGUF') as string },
    ]);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('kvad-headers-'))).toEqual(before);
  });

  it('says what the Hub says where there is no such model', async () => {
    const io = fakeIo({ env: home.env });
    expect(await runCommandLine(['arch', 'check', 'owner/nothing', '--json'], io)).toBe(1);
    expect(io.err()).toMatch(/KVAD_E_HUB_/);
  });
});
