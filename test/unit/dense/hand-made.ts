/** A family made for one test: its plan is written out, its config is not read. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { definePlugin, type Family, type PlanDraft, type WeightRule } from '@kvad/core/plugin';
import { fixtureDirectory, openPlugin, TestModel, type OpenedPlugin } from '@kvad/core/testing';

export const dense: OpenedPlugin = await openPlugin(new URL('../../../plugins/dense', import.meta.url));

export interface HandMade {
  readonly fixture: string;
  readonly plan: PlanDraft;
  readonly rules: readonly WeightRule[];
}

export const openHandMade = ({ fixture, plan, rules }: HandMade): { model: TestModel; directory: string } => {
  const directory = fixtureDirectory(fixture);
  const config = JSON.parse(readFileSync(path.join(directory, 'config.json'), 'utf8')) as Record<string, unknown>;
  const modelType = config['model_type'] as string;
  const schemas = mkdtempSync(path.join(tmpdir(), 'kvad-hand-made-'));
  writeFileSync(path.join(schemas, 'any.schema.json'), '{ "type": "object" }');
  const family: Family = {
    $$type: 'kvad.family',
    modelTypes: [modelType],
    about: 'a plan by hand',
    reference: 'this test',
    config: {
      schema: 'any.schema.json',
      inert: Object.fromEntries(Object.keys(config).map((key) => [key, 'the plan is written by hand'])),
    },
    plan: () => plan,
    weights: () => rules,
  };
  const plugin = definePlugin({ name: 'hand-made', apiVersion: 1, families: [family] });
  const under = { family, modelType, schemas, plugin };
  return { model: TestModel.open({ under, plugins: [dense.plugin, plugin], directory }), directory };
};
