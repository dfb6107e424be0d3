import { describe, expect, it } from 'vitest';
import { readJson } from '../../gates/sources.js';
import { modelTypes, planOf } from './plugins.js';

const DEFAULTS = readJson('test/fixtures/options/config-defaults.json') as Record<string, Record<string, unknown>>;

/** Families whose published class makes no model of its own defaults, and what it then needs to be told. */
const NEEDS: Readonly<Record<string, { key: string; told: Readonly<Record<string, unknown>> }>> = {
  dots1: { key: '"n_routed_experts"', told: { n_routed_experts: 8, n_shared_experts: 1, num_experts_per_tok: 2 } },
  glm4_moe: { key: '"num_attention_heads"', told: { head_dim: 128 } },
};

describe('a config that says nothing', () => {
  it.each(modelTypes)('%s means what transformers means', (type) => {
    const told = { model_type: type, ...NEEDS[type]?.told };
    const silent = planOf(told);
    const explicit = planOf({ ...DEFAULTS[type], ...told });
    expect(explicit.audit.refused).toEqual([]);
    expect(silent.plan).toEqual(explicit.plan);
    expect(silent.rules).toEqual(explicit.rules);
  });

  it.each(Object.entries(NEEDS))('%s is refused without more', (type, { key }) => {
    expect(() => planOf({ model_type: type })).toThrow(key);
  });
});
