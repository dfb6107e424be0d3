import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, readJson } from '../gates/sources.js';
import { installPacked, type Installed } from './installed.js';

const MINUTES = 60_000;
let installed: Installed;

beforeAll(async () => {
  installed = await installPacked();
}, 10 * MINUTES);

afterAll(() => {
  installed.remove();
});

describe('kvad from its packed packages, in an empty folder', { timeout: 2 * MINUTES }, () => {
  it('says its version', async () => {
    const { version } = readJson('cli/package.json') as { version: string };
    expect(await installed.kvad('--version')).toEqual({ stdout: `kvad ${version}\n`, stderr: '', exitCode: 0 });
  });

  it('continues a text with the bundled model, as its reference does', async () => {
    const { stdout, exitCode } = await installed.kvad(
      ...['run', '--raw', '--prompt', 'Once upon a time', '--greedy', '--max-tokens', '20'],
      ...['--quant', 'f32', '--kv-cache-dtype', 'f32'],
    );
    expect(exitCode).toBe(0);
    const { greedy_text: expected } = readJson('test/fixtures/bundled/reference.json') as { greedy_text: string };
    expect(stdout.trim().length).toBeGreaterThan(40);
    expect(expected.startsWith(stdout.trim())).toBe(true);
  });

  it('tells a story', async () => {
    const { stdout, exitCode } = await installed.kvad('run', '--prompt', 'Tell me a story about a fox and a lantern');
    expect(exitCode).toBe(0);
    expect(stdout.length).toBeGreaterThan(100);
  });

  it('lists the bundled plugins with their origin', async () => {
    const { stdout } = await installed.kvad('arch', '--json');
    const { plugins } = JSON.parse(stdout) as { plugins: { name: string; origin: string }[] };
    expect(plugins).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: '@kvad/arch-dense', origin: 'bundled' })]),
    );
  });
});

describe('a plugin of someone else beside it', { timeout: 2 * MINUTES }, () => {
  let plugin: string;
  let model: string;

  beforeAll(() => {
    plugin = path.join(installed.folder, 'kvad-arch-acme');
    model = path.join(plugin, 'test/fixtures/acme_lm');
    cpSync(at('test/e2e/plugins/kvad-arch-acme'), plugin, { recursive: true });
    writeAcmeFixture(model);
  });

  it('is needed: without it the model type is unknown', async () => {
    const { stdout, exitCode } = await installed.kvad('arch', 'verify', model, '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ results: [{ error: { code: 'KVAD_E_ARCH_UNKNOWN' } }] });
  });

  it('brings a family whose logits are those of the reference', async () => {
    const { stdout, exitCode } = await installed.kvad('arch', 'verify', model, '--plugin', plugin, '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      pass: true,
      results: [{ family: 'acme_lm', greedy_equal: true, pass: true, error: null }],
    });
    expect(exitCode).toBe(0);
  });

  it('is held to the conformance kit by a test file of under 20 lines, with no runner but that of Node', async () => {
    const file = path.join(plugin, 'test/conformance.test.js');
    expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThan(20);
    const { stdout, exitCode } = await installed.node('--test', file);
    expect(exitCode, stdout).toBe(0);
    expect(stdout).toMatch(/# pass 1[0-9]\n/);
  });
});

/** A fixture with its reference, its config in the words of the made-up family. */
function writeAcmeFixture(target: string): void {
  const source = at('test/fixtures/dense-core/llama');
  mkdirSync(target, { recursive: true });
  for (const file of ['weights.recipe.json', 'reference.json', 'reference.safetensors']) {
    cpSync(path.join(source, file), path.join(target, file));
  }
  const c = readJson('test/fixtures/dense-core/llama/config.json');
  const config = {
    model_type: 'acme_lm',
    made_by: 'acme',
    d_model: c['hidden_size'],
    n_layers: c['num_hidden_layers'],
    n_heads: c['num_attention_heads'],
    n_kv_heads: c['num_key_value_heads'],
    d_head: c['head_dim'],
    d_ffn: c['intermediate_size'],
    n_vocab: c['vocab_size'],
    n_context: c['max_position_embeddings'],
    norm_eps: c['rms_norm_eps'],
    rotary_base: c['rope_theta'],
  };
  writeFileSync(path.join(target, 'config.json'), JSON.stringify(config));
}
