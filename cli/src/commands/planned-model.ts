import path from 'node:path';
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

/**
 * The plan that a family makes without a model: of the defaults of its config, or of the first of the `examples` that
 * its schema has. null if its schema asks for more.
 */
export const planDefaults = (resolved: ResolvedFamily): PlannedModel | null => {
  const { family, schemas, modelType } = resolved;
  const { examples } = readConfig(path.join(schemas, family.config.schema)) as { examples?: readonly object[] };
  const raw = { ...examples?.[0], model_type: modelType };
  try {
    return planResolved(resolved, raw, 'the default config', { lenient: false });
  } catch (error) {
    if (isKvadError(error) && error.code.startsWith('KVAD_E_CONFIG_')) return null; // defaults that make no model
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
