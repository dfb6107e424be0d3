import { readFileSync } from 'node:fs';
import { BUILTIN_PARTS, PartRegistry, planSlots } from '@kvad/core';
import { openPlugin, planWeights, readRecipe, type OpenedPlugin } from '@kvad/core/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { familyIn } from '@kvad/core/testing';
import { planConfig } from '../../../core/dist/testing/test-model.js';
import { at } from '../../gates/sources.js';

let plugins: OpenedPlugin[];
beforeAll(async () => {
  plugins = await Promise.all(
    ['dense', 'moe', 'mla', 'shared-expert'].map((name) => openPlugin(at(`plugins/${name}`))),
  );
});

const weightsOf = (fixture: string): ReturnType<typeof planWeights> => {
  const directory = at(`test/fixtures/${fixture}`);
  const config = JSON.parse(readFileSync(`${directory}/config.json`, 'utf8')) as Record<string, unknown>;
  const { plan, rules } = planConfig(familyIn(plugins, config['model_type'] as string), config, directory);
  const slots = planSlots(plan, PartRegistry.of([BUILTIN_PARTS, ...plugins.map(({ plugin }) => plugin)]));
  return planWeights({ slots, rules, tied: plan.head.tied });
};

describe('weights made from a plan', () => {
  it.each([
    ['dense-core/llama'],
    ['dense-core/llama_tied'],
    ['dense-core/gpt2'],
    ['breadth/phi3'],
    ['breadth/gpt_neox'],
    ['breadth/bloom'],
    ['breadth/falcon_new'],
    ['breadth/mpt'],
  ])('have the names and shapes of the published checkpoint: %s', (fixture) => {
    const published = readRecipe(at(`test/fixtures/${fixture}/weights.recipe.json`)).tensors;
    const shapes = (tensors: readonly (readonly unknown[])[]) =>
      Object.fromEntries(tensors.map(([name, , shape]) => [name, shape]));
    const made = weightsOf(fixture);
    expect(shapes(made)).toEqual(shapes(published.filter(([name]) => made.some(([one]) => one === name))));
    expect(made.length).toBeGreaterThan(10);
  });

  it('say so where a layout cannot be told backwards', () => {
    expect(() => weightsOf('mla/deepseek_v2')).toThrow(/cannot be told from its rule \("reshape"\)/);
  });
});
