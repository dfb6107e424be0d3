import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { planModel, planSlots } from '@kvad/core';
import { familyIn } from '@kvad/core/testing';
import { describe, expect, it } from 'vitest';
import { rulesBySlot, sourcesOf, templatePattern } from '../../../core/dist/checkpoint/match.js';
import { dense } from './hand-made.js';
import { partsWith } from './parts.js';

/** Names of published checkpoints that no language model has, each looked at. */
const UNMAPPED: Readonly<Record<string, { unexpected: readonly string[]; missing: readonly string[]; why: string }>> = {
  'OpenAssistant--oasst-rm-2.1-pythia-1.4b-epoch-2.5.json': {
    unexpected: ['out_proj.bias', 'out_proj.weight'],
    missing: ['head.weight'],
    why: 'a reward model: it gives one number and has no head',
  },
};

/** What a config says that the names alone do not tell, where the real config is not among the fixtures. */
const CONFIGS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'meta-llama--Llama-3.2-3B-Instruct.json': { tie_word_embeddings: true },
  'tiiuae--falcon-180B-chat.json': {
    new_decoder_architecture: true,
    num_attention_heads: 232,
    num_kv_heads: 8,
    hidden_size: 14848,
  },
  'ibm-granite--granite-3b-code-instruct-128k.json': {
    attention_bias: true,
    mlp_bias: true,
    tie_word_embeddings: true,
  },
  'Qwen--Qwen3-1.7B.json': { tie_word_embeddings: true },
};

interface WeightMap {
  readonly file: string;
  readonly model_type: string;
  readonly tensors: readonly string[];
}

const FIXTURES = new URL('../../fixtures/', import.meta.url);
const readJson = <T>(path: string): T => JSON.parse(readFileSync(new URL(path, FIXTURES), 'utf8')) as T;
const claimed = dense.plugin.families.flatMap(({ modelTypes }) => modelTypes);
const maps = readdirSync(new URL('weight-maps/', FIXTURES))
  .filter((file) => file.endsWith('.json') && file !== 'index.json')
  .map((file) => ({ ...readJson<WeightMap>(`weight-maps/${file}`), file }))
  .filter((map) => claimed.includes(map.model_type));

/** The published config, or the defaults of its class with the layers that the names show. */
const configOf = ({ file, model_type: type, tensors }: WeightMap): Record<string, unknown> => {
  if (existsSync(new URL(`configs/${file}`, FIXTURES))) {
    const config = readJson<Record<string, unknown>>(`configs/${file}`);
    if (config['model_type'] === type) return config;
  }
  const layers = 1 + Math.max(...tensors.map((name) => Number(/\.(?:layers|h|blocks)\.(\d+)\./.exec(name)?.[1] ?? 0)));
  const counts = ['num_hidden_layers', 'n_layer', 'n_layers'].map((key) => [key, layers] as const);
  const { schemas } = familyIn([dense], type);
  const { properties } = JSON.parse(readFileSync(`${schemas}/${type}.schema.json`, 'utf8')) as {
    properties: Record<string, unknown>;
  };
  return {
    model_type: type,
    ...Object.fromEntries(counts.filter(([key]) => key in properties)),
    ...CONFIGS[file],
  };
};

const compare = (map: WeightMap): { missing: string[]; unexpected: string[] } => {
  const { family, modelType, schemas } = familyIn([dense], map.model_type);
  const { plan, rules } = planModel({ family, modelType, raw: configOf(map), file: map.file, schemas });
  const present = new Set(map.tensors);
  const used = new Set<string>();
  const bySlot = rulesBySlot(rules);
  const missing = planSlots(plan, partsWith(dense.plugin)).filter((slot) => {
    const found = sourcesOf(slot, bySlot).find(({ names }) => names.flat().every((name) => present.has(name)));
    for (const name of found?.names.flat() ?? []) used.add(name);
    return found === undefined && !(slot.name === 'head.weight' && plan.head.tied);
  });
  const idle = rules.flatMap((rule) => ('unneeded' in rule ? [templatePattern(rule.unneeded)] : []));
  const unexpected = map.tensors.filter((name) => !used.has(name) && !idle.some((pattern) => pattern.test(name)));
  return { missing: missing.map(({ name }) => name), unexpected };
};

describe('tensor names of published checkpoints of dense families', () => {
  it.each(maps)('$file: each is mapped or declared unneeded, and none is missing', (map) => {
    const { missing, unexpected } = UNMAPPED[map.file] ?? { missing: [], unexpected: [] };
    expect(compare(map)).toEqual({ missing, unexpected });
  });
});
