import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { at, readJson } from '../../gates/sources.js';
import { modelTypes, planOf } from './plugins.js';

/** Published configs that are refused for how their weights are stored. */
const PACKED: Readonly<Record<string, string>> = {
  'MiniMaxAI--MiniMax-M2.5.json': 'fp8',
  'Qwen--Qwen1.5-MoE-A2.7B-Chat-GPTQ-Int4.json': 'gptq',
  'Qwen--Qwen3-235B-A22B-FP8.json': 'fp8',
  'nvidia--MiniMax-M2.5-NVFP4.json': 'modelopt',
  'nvidia--MiniMax-M2.7-NVFP4.json': 'modelopt',
  'openai--gpt-oss-120b.json': 'mxfp4',
};

type Config = Readonly<Record<string, unknown>>;
const FOLDER = 'test/fixtures/configs';
const configs = readdirSync(at(FOLDER))
  .filter((file) => file.endsWith('.json') && file !== 'index.json')
  .map((file) => ({ file, raw: readJson(`${FOLDER}/${file}`) as Config }))
  .filter(({ raw }) => modelTypes.includes(String(raw['model_type'])));

const without = (raw: Config, key: string): Config =>
  Object.fromEntries(Object.entries(raw).filter(([name]) => name !== key));

describe('published configs of families with experts', () => {
  it('are at hand', () => {
    expect(configs.map(({ file }) => file)).toEqual(expect.arrayContaining(Object.keys(PACKED)));
    expect(new Set(configs.map(({ raw }) => raw['model_type'])).size).toBeGreaterThan(6);
  });

  it.each(configs)('$file: every key is read or inert', ({ file, raw }) => {
    const { plan, audit } = planOf(without(raw, 'quantization_config'), file);
    expect(audit.refused).toEqual([]);
    expect(plan.layers.flatMap(({ ops }) => ops.map(({ kind }) => kind))).toContain('moe');
  });

  it.each(Object.entries(PACKED))('%s is refused: its weights are stored as %s', (file, scheme) => {
    const { raw } = configs.find((config) => config.file === file)!;
    expect(() => planOf(raw, file)).toThrow(expect.objectContaining({ code: 'KVAD_E_CONFIG_QUANTIZED' }));
    expect(() => planOf(raw, file)).toThrow(scheme);
  });

  it.each([
    ['Qwen--Qwen3-30B-A3B-Instruct-2507.json', { num_local_experts: 64 }, '"num_experts": 128'],
    ['Qwen--Qwen3-30B-A3B-Instruct-2507.json', { shared_expert_intermediate_size: 512 }, '512'],
    ['MiniMaxAI--MiniMax-M2.5.json', { scoring_func: 'softmax' }, '"softmax"'],
    ['mistralai--Mixtral-8x7B-v0.1.json', { router_z_loss: 1 }, 'router_z_loss'],
  ])('%s with %j is refused', (file, edit, message) => {
    const { raw } = configs.find((config) => config.file === file)!;
    expect(() => planOf({ ...without(raw, 'quantization_config'), ...edit }, file)).toThrow(message);
  });
});
