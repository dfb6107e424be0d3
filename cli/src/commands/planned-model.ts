import { isKvadError, planModel, readConfig, type ConfigAudit, type PlannedModel } from '@kvad/core';
import type { Registry, ResolvedFamily } from '@kvad/arch-registry';

export interface PlannedFile extends PlannedModel {
  readonly resolved: ResolvedFamily;
}

/** The plan of a config.json, by the family that its model_type names. Throws what `planModel` throws. */
export const planFile = async (
  registry: Registry,
  file: string,
  options: { lenient: boolean },
): Promise<PlannedFile> => {
  const raw = readConfig(file);
  const resolved = await registry.resolve(raw, file);
  return { ...planResolved(resolved, raw, file, options), resolved };
};

/** The plan that a family makes of the defaults of its config; null if its schema asks for more than the model type. */
export const planDefaults = (resolved: ResolvedFamily): PlannedModel | null => {
  try {
    return planResolved(resolved, { model_type: resolved.modelType }, 'the default config', { lenient: false });
  } catch (error) {
    if (isKvadError(error) && error.code === 'KVAD_E_CONFIG_INVALID') return null;
    throw error;
  }
};

const planResolved = (
  { family, modelType, schemas, plugin }: ResolvedFamily,
  raw: Readonly<Record<string, unknown>>,
  file: string,
  { lenient }: { lenient: boolean },
): PlannedModel => planModel({ family, modelType, raw, file, schemas, lenient, plugin: plugin.found.name });

/** What `--lenient` let through. */
export const lenientWarnings = ({ refused, file }: ConfigAudit): string[] =>
  refused.map(
    ({ key, value }) => `nobody knows "${key}": ${JSON.stringify(value)} in ${file}; the result may be wrong`,
  );

/** Kinds of one axis that a plan uses, in the order in which they appear. */
export const kindsOfAxis = ({ plan }: Pick<PlannedModel, 'plan'>, axis: 'mixer' | 'ffn'): string[] => [
  ...new Set(plan.layers.flatMap(({ ops }) => ops.filter((op) => op.axis === axis).map(({ kind }) => kind))),
];
