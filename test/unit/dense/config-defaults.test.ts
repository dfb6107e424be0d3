import { readFileSync } from 'node:fs';
import { planModel } from '@kvad/core';
import { familyIn } from '@kvad/core/testing';
import { describe, expect, it } from 'vitest';
import { dense } from './hand-made.js';

type Config = Readonly<Record<string, unknown>>;

/** Every key of each published config class, as transformers writes a config of which nothing was given. */
const DEFAULTS = JSON.parse(
  readFileSync(new URL('../../fixtures/options/config-defaults.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, Config>>;

const planOf = (modelType: string, raw: Config) => {
  const { family, schemas } = familyIn([dense], modelType);
  return planModel({ family, modelType, raw, file: 'config.json', schemas });
};

describe('a config that says nothing', () => {
  it.each(dense.plugin.families.flatMap(({ modelTypes }) => modelTypes))('%s means what transformers means', (type) => {
    const silent = planOf(type, { model_type: type });
    const explicit = planOf(type, DEFAULTS[type]!);
    expect(explicit.audit.refused).toEqual([]);
    expect(silent.plan).toEqual(explicit.plan);
    expect(silent.rules).toEqual(explicit.rules);
  });
});

describe('a size that the config says and other families know', () => {
  const types = dense.plugin.families.flatMap(({ modelTypes }) => modelTypes);

  it.each(types.flatMap((type) => ['head_dim', 'num_key_value_heads'].map((key) => [type, key] as const)))(
    '%s plans with %s or refuses it',
    (type, key) => {
      try {
        planOf(type, { model_type: type, [key]: 4 });
      } catch (error) {
        expect(error).toMatchObject({ code: expect.stringMatching(/^KVAD_E_CONFIG_/) as unknown });
      }
    },
  );
});
