import {
  bindWeights,
  checkModelFolder,
  createReferenceOps,
  gatherParts,
  isKvadError,
  KvadError,
  openCheckpoint,
  PartRegistry,
  plannedStates,
  planSlots,
  refuseBadWeights,
  type WeightAudit,
} from '@kvad/core';
import type { Registry } from '@kvad/arch-registry';
import type { CliArchCheck } from '@kvad/schemas';
import { stateSize, weightSize } from './model-size.js';
import { planFile, type PlannedFile } from './planned-model.js';
import { familyFacts, shapeOf, storedSize } from './info-facts.js';

/** What a check finds; what was not reached is null. */
export type Checked = Omit<CliArchCheck, 'object' | 'model' | 'source' | 'bytes_read' | 'runs'>;

const NOTHING: Checked = {
  ...{ family: null, model_type: null, about: null, plugin: null, shape: null },
  ...{ parameters: null, memory: null, stored: null, state: null },
  ...{ config: { read: 0, inert: 0, refused: [] }, weights: null, problems: [], warnings: [] },
};

/**
 * Would this model run? Goes on behind what is wrong as far as it can, so that one look tells all: an unknown key does
 * not keep the tensors from being compared. Reads config.json, index and headers.
 */
export const checkModel = async (
  folder: string,
  registry: Registry,
  { lenient }: { lenient: boolean },
): Promise<Checked> => {
  const problems: CliArchCheck['problems'] = [];
  const note = (error: unknown): void => {
    if (!isKvadError(error)) throw error;
    problems.push({ code: error.code, message: error.message, hint: error.hint });
  };
  let checked: Checked = NOTHING;
  try {
    const planned = await planFile(registry, checkModelFolder(folder), { lenient: true });
    checked = { ...checked, ...familyFacts(planned), shape: shapeOf(planned), config: configOf(planned) };
    if (!lenient) refuseKeys(planned).forEach(note);
    checked = { ...checked, ...(await checkWeights(folder, planned, registry, note)) };
  } catch (error) {
    note(error);
  }
  return { ...checked, problems };
};

const configOf = ({ audit }: PlannedFile): Checked['config'] => ({
  read: audit.read.length,
  inert: audit.inert.length,
  refused: audit.refused.map((key) => ({ ...key })),
});

const refuseKeys = ({ audit, plan }: PlannedFile): KvadError[] => {
  const { refused, file } = audit;
  if (refused.length === 0) return [];
  const keys = refused.map(({ key }) => key);
  const values = refused.map(({ value }) => JSON.stringify(value));
  return [new KvadError('KVAD_E_CONFIG_UNKNOWN_KEY', { keys, values, file, family: plan.family })];
};

const checkWeights = async (
  folder: string,
  planned: PlannedFile,
  registry: Registry,
  note: (error: unknown) => void,
): Promise<Partial<Checked>> => {
  const { plan, rules } = planned;
  const parts = await gatherParts(plan, registry, (plugins) => PartRegistry.of(plugins));
  const slots = planSlots(plan, parts);
  const ops = createReferenceOps({ kvCacheDtype: 'f16' });
  const specs = plannedStates(plan, slots, parts, ops).map(({ spec }) => spec);
  const known = { state: stateSize(specs, plan.contextLength), ...weightSize(slots, null) };
  try {
    const checkpoint = openCheckpoint(folder);
    try {
      const { weights, audit } = bindWeights({ slots, rules, tied: plan.head.tied, checkpoint });
      const found = { ...known, stored: storedSize(checkpoint), weights: weightsOf(audit) };
      try {
        refuseBadWeights(audit, { directory: folder });
      } catch (error) {
        note(error);
        return { ...found, warnings: [...checkpoint.warnings] };
      }
      return { ...found, ...weightSize(slots, weights), warnings: [...checkpoint.warnings] };
    } finally {
      checkpoint.close();
    }
  } catch (error) {
    note(error);
    return known;
  } finally {
    ops.dispose();
  }
};

const weightsOf = ({ missing, unexpected, misshaped, partlyRead, unreadable, unneeded, diagnosis }: WeightAudit) => ({
  missing: missing.map(({ slot, tensors }) => ({ slot, tensors: [...tensors] })),
  unexpected: [...unexpected],
  misshaped: misshaped.map(({ slot, tensor, expected, found }) => {
    return { slot, tensor, expected: [...expected], found: [...found] };
  }),
  partly_read: partlyRead.map(({ tensor, elements, read }) => ({ tensor, elements, read })),
  unreadable: unreadable.map(({ tensor, dtype }) => ({ tensor, dtype })),
  unneeded: unneeded.reduce((sum, { count }) => sum + count, 0),
  diagnosis,
});
