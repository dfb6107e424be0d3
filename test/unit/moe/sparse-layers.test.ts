import {
  betweenLayers,
  byLayer,
  everyLayer,
  expertGroups,
  fromLayer,
  listedLayers,
  type SparseLayers,
} from '@kvad/core/plugin';
import { describe, expect, it } from 'vitest';
import { readJson } from '../../gates/sources.js';
import { planOf } from './plugins.js';

const sparse = (rule: SparseLayers, layers = 6): number[] =>
  Array.from({ length: layers }, (_, layer) => layer).filter(rule);

describe('layers with experts', () => {
  it.each([
    ['every layer', everyLayer(1), [0, 1, 2, 3, 4, 5]],
    ['every second, counted from 1', everyLayer(2), [1, 3, 5]],
    ['every second but those that are named', everyLayer(2, [3, 4]), [1, 5]],
    ['all but the first two', fromLayer(2), [2, 3, 4, 5]],
    ['all from the second on that are multiples of 3', fromLayer(2, 3), [3]],
    ['from 1 to 4', betweenLayers(1, 4, 1), [1, 2, 3, 4]],
    ['every second from 1 to 4', betweenLayers(1, 4, 2), [1, 3]],
    ['as a list says', listedLayers(['dense', 'sparse', 'dense', 'sparse', 'sparse', 'dense'], 6), [1, 3, 4]],
  ])('%s', (_, rule, expected) => {
    expect(sparse(rule)).toEqual(expected);
  });

  it('a list that does not name each layer is refused', () => {
    expect(() => listedLayers(['dense'], 2)).toThrow('does not name each of the 2 layers');
  });

  it('have one feed-forward, and the others another', () => {
    const choose = byLayer(fromLayer(1), { kind: 'moe' }, { kind: 'glu' });
    expect([0, 1].map((layer) => choose(layer).kind)).toEqual(['glu', 'moe']);
  });

  it.each([
    ['qwen3_moe', { decoder_sparse_step: 2 }, ['glu', 'moe', 'glu']],
    ['qwen3_moe', { decoder_sparse_step: 1, mlp_only_layers: [1] }, ['moe', 'glu', 'moe']],
    ['qwen2_moe', { mlp_only_layers: [0, 2] }, ['glu', 'moe', 'glu']],
    ['dots1', { first_k_dense_replace: 2 }, ['glu', 'glu', 'moe']],
    ['glm4_moe', { first_k_dense_replace: 0 }, ['moe', 'moe', 'moe']],
    ['ernie4_5_moe', { moe_layer_start_index: 0, moe_layer_end_index: 1 }, ['moe', 'moe', 'glu']],
    ['ernie4_5_moe', { moe_layer_end_index: -1, moe_layer_interval: 3 }, ['glu', 'glu', 'moe']],
  ])('%s with %j: %j', (fixture, edit, kinds) => {
    const raw = readJson(`test/fixtures/moe/${fixture}/config.json`);
    const { plan } = planOf({ ...raw, ...edit });
    expect(plan.layers.map(({ ops }) => ops[1]!.kind)).toEqual(kinds);
  });
});

describe('groups of experts', () => {
  const keys = { n_group: 4, topk_group: 2, n_routed_experts: 8, num_experts_per_tok: 3 };
  const groups = (edit: Partial<typeof keys> = {}) => expertGroups({ ...keys, ...edit }, 'sum-of-two', 'lowest');

  it('are as the config says', () => {
    expect(groups()).toEqual({ count: 4, keep: 2, by: 'sum-of-two', masked: 'lowest' });
  });

  it('are none where none is ever left out', () => {
    expect(groups({ topk_group: 4 })).toBeNull();
    expect(groups({ n_group: 1, topk_group: 1 })).toBeNull();
  });

  it.each([
    [{ n_group: 3 }, '"n_group": 3 does not divide the 8 experts'],
    [{ topk_group: 5 }, '"topk_group": 5 is more than the 4 groups'],
    [{ n_group: 8, topk_group: 4 }, '"n_group": 8 leaves one expert a group'],
    [{ num_experts_per_tok: 5 }, '"num_experts_per_tok": 5 is more than the experts of 2 of 4 groups'],
  ])('%j is refused', (edit, message) => {
    expect(() => groups(edit)).toThrow(message);
  });
});

describe('a config that routes a token to more experts than there are', () => {
  it.each([
    ['mixtral', 'num_experts_per_tok'],
    ['ernie4_5_moe', 'moe_k'],
  ])('%s is refused by "%s"', (fixture, key) => {
    const raw = readJson(`test/fixtures/moe/${fixture}/config.json`);
    expect(() => planOf({ ...raw, [key]: 7 })).toThrow(`"${key}": 7`);
  });
});
