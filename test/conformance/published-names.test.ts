/** Real tensor names of published checkpoints: each fills a slot or is declared unneeded, and no slot is left empty. */
import { join } from 'node:path';
import { bindWeights, type Checkpoint, PartRegistry, planSlots, readConfig, BUILTIN_PARTS } from '@kvad/core';
import { familyIn, openPlugin, planConfig } from '@kvad/core/testing';
import { describe, expect, it } from 'vitest';
import { at, packages, readJson, registeredModelTypes } from '../gates/sources.js';

type Edit = Readonly<Record<string, unknown>>;

/** For name lists whose own config is not at hand: one of the same family, and what the list tells of the model. */
const STAND_INS: Readonly<Record<string, readonly [config: string, edit: Edit]>> = {
  'OpenAssistant--oasst-rm-2.1-pythia-1.4b-epoch-2.5.json': [
    'togethercomputer--RedPajama-INCITE-7B-Base.json',
    { num_hidden_layers: 24 },
  ],
  'Qwen--Qwen2.5-Coder-32B-Instruct.json': ['Qwen--Qwen2.5-7B-Instruct.json', { num_hidden_layers: 64 }],
  'Qwen--Qwen3-1.7B.json': ['Qwen--Qwen3-0.6B.json', {}],
  'meta-llama--Llama-3.2-3B-Instruct.json': ['meta-llama--Llama-3.2-3B.json', {}],
  'mistralai--Mistral-7B-v0.1.json': ['mistralai--Mistral-7B-Instruct-v0.2.json', {}],
  'mosaicml--mpt-7b.json': ['mosaicml--mpt-7b-in-library-form.json', {}],
  'tiiuae--falcon-7b.json': ['tiiuae--falcon-7b-instruct.json', {}],
};

/** Checkpoints of another task than text generation: refused, for these tensors. */
const OTHER_TASKS: Readonly<Record<string, { unexpected: string[]; missing: string[] }>> = {
  'OpenAssistant--oasst-rm-2.1-pythia-1.4b-epoch-2.5.json': {
    unexpected: ['out_proj.bias', 'out_proj.weight'],
    missing: ['head.weight'],
  },
};

/** Names alone: shapes are those of nothing, only whether a name is known is looked at. */
const checkpointOf = (names: readonly string[]): Checkpoint => ({
  directory: 'names',
  files: [],
  warnings: [],
  tensors: new Map(
    names.map((name) => [name, { name, dtype: 'BF16', shape: [0], file: 'names', offset: 0, byteLength: 0 }]),
  ),
  read: () => {
    throw new Error('there are only names');
  },
  close: () => undefined,
});

interface NameList {
  readonly file: string;
  readonly model_type: string;
  readonly reduced: boolean;
}

const pluginFolders = packages()
  .filter(({ folder }) => folder.startsWith('plugins/'))
  .map(({ folder }) => at(folder));
const known = new Set(registeredModelTypes());
const lists = (readJson('test/fixtures/weight-maps/index.json') as unknown as NameList[]).filter(
  ({ model_type, reduced }) => known.has(model_type) && !reduced,
);

describe('published tensor names', () => {
  it('are at hand for the first families', () => {
    const types = lists.map(({ model_type }) => model_type);
    expect(types).toEqual(expect.arrayContaining(['llama', 'mistral', 'qwen2', 'qwen3']));
  });

  it.each(lists)('$file ($model_type)', async ({ file, model_type: modelType }) => {
    const opened = await Promise.all(pluginFolders.map((folder) => openPlugin(folder)));
    const [config, edit] = STAND_INS[file] ?? [file, {}];
    const raw = readConfig(at(join('test/fixtures/configs', config)));
    const { plan, rules } = planConfig(familyIn(opened, modelType), { ...raw, ...edit }, 'names');
    const parts = PartRegistry.of([BUILTIN_PARTS, ...opened.map(({ plugin }) => plugin)]);
    const { tensors } = readJson(`test/fixtures/weight-maps/${file}`) as { tensors: string[] };
    const { audit } = bindWeights({
      slots: planSlots(plan, parts),
      rules,
      tied: plan.head.tied,
      checkpoint: checkpointOf(tensors),
    });
    const { unexpected = [], missing = [] } = OTHER_TASKS[file] ?? {};
    expect(audit.unexpected).toEqual(unexpected);
    expect(audit.missing.map(({ slot }) => slot)).toEqual(missing);
  });
});
