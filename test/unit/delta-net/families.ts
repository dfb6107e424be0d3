/** The plugin under test, and those whose parts its families name. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { BUILTIN_PARTS, PartRegistry, planModel, type PlannedModel } from '@kvad/core';
import { familyIn, fixtureDirectory, openPlugin, TestModel, type OpenedPlugin } from '@kvad/core/testing';
import { at } from '../../gates/sources.js';
import { deltaNet } from './mixer-under-test.js';

const others = await Promise.all(['dense', 'moe', 'shared-expert'].map((name) => openPlugin(at(`plugins/${name}`))));
const opened: readonly OpenedPlugin[] = [deltaNet, ...others];
const plugins = opened.map(({ plugin }) => plugin);

export const parts = PartRegistry.of([BUILTIN_PARTS, ...plugins]);
export const modelTypes = deltaNet.plugin.families.flatMap((family) => family.modelTypes);

export type Config = Readonly<Record<string, unknown>>;

export const planOf = (raw: Config, file = 'config.json'): PlannedModel => {
  const { family, modelType, schemas } = familyIn(opened, String(raw['model_type']));
  return planModel({ family, modelType, raw, file, schemas });
};

/** The mixers of a plan, layer by layer. */
export const mixersOf = ({ plan }: PlannedModel): string[] =>
  plan.layers.map(({ ops }) => ops.find(({ axis }) => axis === 'mixer')!.kind);

export const openModel = (directory: string): TestModel => {
  const config = JSON.parse(readFileSync(path.join(directory, 'config.json'), 'utf8')) as Config;
  return TestModel.open({ under: familyIn(opened, String(config['model_type'])), plugins, directory });
};

/** A fixture with its weights made. */
export const openFixture = (name: string): { model: TestModel; directory: string } => {
  const directory = fixtureDirectory(at(`test/fixtures/${name}`));
  return { model: openModel(directory), directory };
};
