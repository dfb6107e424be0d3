import { readdirSync, readFileSync } from 'node:fs';
import { KvadError, planModel, type PlannedModel } from '@kvad/core';
import { familyIn } from '@kvad/core/testing';
import { describe, expect, it } from 'vitest';
import { dense } from './hand-made.js';

/** Published configs that are refused, each looked at. */
const REFUSED: Readonly<Record<string, { code: string; key: string; why: string }>> = {
  'Alibaba-NLP--gte-Qwen2-7B-instruct.json': {
    code: 'KVAD_E_CONFIG_UNKNOWN_KEY',
    key: '"is_causal": false',
    why: 'an encoder: every token sees those after it',
  },
  'Qwen--Qwen3-14B-MLX-4bit.json': {
    code: 'KVAD_E_CONFIG_QUANTIZED',
    key: 'affine',
    why: 'weights in groups of 4 bits, a format that is not read',
  },
  'Qwen--Qwen3-32B-FP8.json': {
    code: 'KVAD_E_CONFIG_QUANTIZED',
    key: 'fp8',
    why: 'weights in 8-bit floats with scales, a format that is not read',
  },
  'TheBloke--Wizard-Vicuna-30B-Uncensored-GPTQ.json': {
    code: 'KVAD_E_CONFIG_QUANTIZED',
    key: 'gptq',
    why: 'packed weights, a format that is not read',
  },
  'dicta-il--dictalm2.0-instruct.json': {
    code: 'KVAD_E_CONFIG_UNKNOWN_KEY',
    key: '"document_attention": true',
    why: 'asks for a mask between documents that no published code of this type has',
  },
  'microsoft--bitnet-b1.58-2B-4T-bf16.json': {
    code: 'KVAD_E_CONFIG_QUANTIZED',
    key: 'bitnet',
    why: 'inputs of each product are rounded to 8 bits, which is not done here',
  },
  'unknown--apertus-derived.json': {
    code: 'KVAD_E_CONFIG_VALUE',
    key: '"rope_theta": 500000',
    why: 'a null rope_scaling: one release of the published code takes it as none, the next as its own default',
  },
};

const FOLDER = new URL('../../fixtures/configs/', import.meta.url);
const claimed = dense.plugin.families.flatMap(({ modelTypes }) => modelTypes);
const configs = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json') && file !== 'index.json')
  .map((file) => ({ file, raw: JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Record<string, unknown> }))
  .filter(({ raw }) => claimed.includes(String(raw['model_type'])));

const plan = (file: string, raw: Record<string, unknown>): PlannedModel => {
  const { family, modelType, schemas } = familyIn([dense], String(raw['model_type']));
  return planModel({ family, modelType, raw, file, schemas });
};

describe('published configs of dense families', () => {
  it.for(configs.filter(({ file }) => !(file in REFUSED)))('$file is planned', async ({ file, raw }, { annotate }) => {
    const { plan: planned, audit } = plan(file, raw);
    const inert = audit.inert.map(({ key }) => key);
    await annotate(`read ${audit.read.join(' ')}`);
    await annotate(`inert ${inert.join(' ')}`);
    expect(audit.refused).toEqual([]);
    expect(planned.layers.length).toBeGreaterThan(0);
  });

  it.each(Object.entries(REFUSED))('%s is refused: $why', (file, { code, key }) => {
    const raw = configs.find((config) => config.file === file)!.raw;
    expect(() => plan(file, raw)).toThrow(expect.objectContaining({ code }));
    expect(() => plan(file, raw)).toThrow(key);
  });

  it('an unknown key beside a published one is refused by name', () => {
    const [file, key] = ['Qwen--Qwen3-0.6B.json', 'attn_logit_softcapping'];
    const raw = { ...configs.find((config) => config.file === file)!.raw, [key]: 30 };
    expect(() => plan(file, raw)).toThrow(KvadError);
    expect(() => plan(file, raw)).toThrow(key);
  });
});
