import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import {
  gatherParts,
  isKvadError,
  KvadError,
  PartRegistry,
  planModel,
  planSlots,
  readConfig,
  type PartSource,
  type PlannedModel,
} from '@kvad/core';
import { idleKeys, listedValues, planWeights } from '@kvad/core/testing';
import type { Registry, ResolvedFamily } from '@kvad/arch-registry';
import type { ScaffoldName } from './scaffold-name.js';
import { providersOf, type FamilyFiles, type Kind } from './scaffold.js';

/** Sizes of a config that its random weights are made for, under the names that published configs give them. */
const SMALL: Readonly<Record<string, number>> = {
  ...{
    vocab_size: 128,
    hidden_size: 64,
    n_embd: 64,
    d_model: 64,
    intermediate_size: 96,
    ffn_hidden_size: 96,
    n_inner: 96,
  },
  ...{ num_hidden_layers: 3, n_layer: 3, n_layers: 3, num_layers: 3, num_attention_heads: 4, n_head: 4, n_heads: 4 },
  ...{
    num_key_value_heads: 2,
    num_kv_heads: 2,
    head_dim: 24,
    max_position_embeddings: 256,
    n_positions: 256,
    n_ctx: 256,
  },
  ...{ max_sequence_length: 256, max_seq_len: 256, num_experts: 8, num_local_experts: 8 },
  ...{
    n_routed_experts: 8,
    n_group: 2,
    topk_group: 1,
    num_experts_per_tok: 2,
    moe_intermediate_size: 32,
    shared_expert_intermediate_size: 32,
  },
};

/**
 * The source of a family that is there, under another name, to be changed: its module, what it takes from files beside
 * it, its schema, and a small config. Throws KVAD_E_ARCH_UNKNOWN, KVAD_E_SCAFFOLD.
 */
export const likeFamily = async (like: string, name: ScaffoldName, registry: Registry): Promise<FamilyFiles> => {
  const resolved = await registry.family(like);
  const refuse = (reason: string): never => {
    throw new KvadError('KVAD_E_SCAFFOLD', { name: `a package like ${like}`, reason });
  };
  const { directory } = resolved.plugin.found;
  const main = `src/families/${resolved.family.modelTypes[0]}.ts`;
  if (!existsSync(path.join(directory, main))) refuse(`${resolved.plugin.found.name} comes without ${main}`);
  const renamed = new Map([[main, `src/families/${name.modelType}.ts`]]);
  const files = new Map<string, string>();
  const take = (file: string): void => {
    if (files.has(renamed.get(file) ?? file)) return;
    const text = readFileSync(path.join(directory, file), 'utf8');
    files.set(renamed.get(file) ?? file, text);
    for (const [, module = ''] of text.matchAll(/from '(\.[^']+)\.js'/g)) {
      take(path.posix.join(path.posix.dirname(file), `${module}.ts`));
    }
  };
  take(main);

  const source = files.get(`src/families/${name.modelType}.ts`)!;
  const [, variable] = /export const (\w+) = defineFamily/.exec(source) ?? refuse(`${main} exports no family`);
  const { schema } = resolved.family.config;
  files.set(
    `src/families/${name.modelType}.ts`,
    source
      .replace(/modelTypes: \[[^\]]*\]/, `modelTypes: ['${name.modelType}']`)
      .replaceAll(schema, `${name.modelType}.schema.json`),
  );
  const described = readConfig(path.join(resolved.schemas, schema));
  const { $id: _, ...own } = described;
  files.set(`schemas/${name.modelType}.schema.json`, `${JSON.stringify(own, null, 2)}\n`);
  const { config, planned } = smallConfig(resolved, described, refuse);
  await requireWeights(planned, registry, refuse);
  files.set('test/fixture/config.json', `${JSON.stringify({ ...config, model_type: name.modelType }, null, 2)}\n`);
  return { files, variable: variable!, needs: await providersOf(await kindsOf(planned, registry), registry) };
};

interface Small {
  readonly config: Readonly<Record<string, unknown>>;
  readonly planned: PlannedModel;
}

/** Changes to the sizes that some families ask for, tried in order. */
const VARIANTS: readonly Readonly<Record<string, number>>[] = [{}, { num_key_value_heads: 4 }];

/** A config of those sizes, without the keys that change nothing beside them. */
const smallConfig = (
  { family, schemas, plugin, modelType }: ResolvedFamily,
  described: Readonly<Record<string, unknown>>,
  refuse: (reason: string) => never,
): Small => {
  const { properties = {}, examples } = described as {
    properties?: Record<string, unknown>;
    examples?: readonly object[];
  };
  const plan = (raw: Readonly<Record<string, unknown>>): PlannedModel => {
    const file = 'the small config of the scaffold';
    return planModel({ family, modelType, raw, file, schemas, plugin: plugin.found.name });
  };
  let refusal = '';
  for (const variant of VARIANTS) {
    const sizes = Object.entries({ ...SMALL, ...variant }).filter(([key]) => key in properties);
    const all: Record<string, unknown> = { ...examples?.[0], ...Object.fromEntries(sizes), model_type: modelType };
    try {
      const keys = plan(all).audit.read.filter((key) => key !== 'model_type');
      const derive = (config: Readonly<Record<string, unknown>>): unknown => [plan(config).plan, plan(config).rules];
      const idle = idleKeys({ config: all, keys, derive, listed: (name) => listedValues(described, name) });
      const config = Object.fromEntries(Object.entries(all).filter(([key]) => !idle.includes(key)));
      return { config, planned: plan(config) };
    } catch (error) {
      if (!isKvadError(error)) throw error;
      refusal = error.message;
    }
  }
  return refuse(`its config cannot be made small: ${refusal}`);
};

/** Every kind that a plan names and that core does not bring, at any depth. */
const kindsOf = async ({ plan }: PlannedModel, registry: Registry): Promise<Kind[]> => {
  const asked: Kind[] = [];
  const source: PartSource = {
    require: (kinds) => {
      asked.push(...kinds);
      return registry.require(kinds);
    },
  };
  await gatherParts(plan, source, (plugins) => PartRegistry.of(plugins));
  return asked;
};

/** The kit has to be able to make weights for it. */
const requireWeights = async (
  { plan, rules }: PlannedModel,
  registry: Registry,
  refuse: (reason: string) => never,
): Promise<void> => {
  const parts = await gatherParts(plan, registry, (plugins) => PartRegistry.of(plugins));
  try {
    planWeights({ slots: planSlots(plan, parts), rules, tied: plan.head.tied });
  } catch (error) {
    refuse((error as Error).message); // a layout that cannot be told backwards: the sentence of whoever found it
  }
};
