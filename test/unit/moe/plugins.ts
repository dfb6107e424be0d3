/** The plugins under test, and dense, whose attention and dense layers their families name. */
import { BUILTIN_PARTS, PartRegistry, planModel, type PlannedModel } from '@kvad/core';
import { familyIn, openPlugin, type OpenedPlugin } from '@kvad/core/testing';
import { at } from '../../gates/sources.js';

const open = (name: string): Promise<OpenedPlugin> => openPlugin(at(`plugins/${name}`));

export const opened = await Promise.all(['dense', 'moe', 'shared-expert'].map(open));
export const parts = PartRegistry.of([BUILTIN_PARTS, ...opened.map(({ plugin }) => plugin)]);

/** The model types of the two plugins under test. */
export const modelTypes = opened
  .slice(1)
  .flatMap(({ plugin }) => plugin.families)
  .flatMap((family) => family.modelTypes);

export const planOf = (raw: Readonly<Record<string, unknown>>, file = 'config.json'): PlannedModel => {
  const { family, modelType, schemas } = familyIn(opened, String(raw['model_type']));
  return planModel({ family, modelType, raw, file, schemas });
};
