import { bindWeights } from '../checkpoint/bind.js';
import { refuseBadWeights } from '../checkpoint/refuse.js';
import { openCheckpoint } from '../checkpoint/open.js';
import { checkModelFolder } from '../checkpoint/folder.js';
import { kernelWarnings, type OpsChoice } from '../kernels/choose-ops.js';
import { giveBackFreedMemoryLater } from '../kernels/native/freed-memory.js';
import type { Ops } from '../kernels/ops.js';
import { readConfig } from '../plan/config-file.js';
import type { Family } from '../plan/family.js';
import { planModel, type PlannedModel } from '../plan/plan-model.js';
import type { Plugin } from '../plan/plugin.js';
import { planSlots } from '../plan/slots.js';
import type { TextSide } from '../text/types.js';
import { gatherParts, type PartSource } from './gather-parts.js';
import { LocalModel } from './local-model.js';
import { countParameters, stateBytesPerToken } from './measure.js';
import { Model, type ModelPieces } from './model.js';
import { openQuantisedWeights, type QuantisedWeights } from './quantised-weights.js';
import type { PartRegistry } from './part-registry.js';
import { refuseKernels } from './refuse-kernels.js';
import { completeLoadOptions, type CompleteLoadOptions } from './load-options.js';
import type { LoadOptions } from './types.js';

/** Finds the family that a config names. */
export interface FamilySource extends PartSource {
  resolve(
    config: Readonly<Record<string, unknown>>,
    file: string,
  ): Promise<{
    readonly modelType: string;
    readonly family: Family;
    readonly schemas: string;
    readonly plugin: { readonly plugin: Plugin };
  }>;
}

/** What loading needs from outside the engine. */
export interface LoadPieces {
  readonly source: FamilySource;
  makeParts(plugins: readonly Plugin[]): PartRegistry;
  makeOps(options: OpsChoice): Ops;
  loadText(directory: string): Promise<TextSide>;
  /** What there is to say of where these come from. */
  readonly warnings?: readonly string[];
}

/**
 * A model folder, loaded in this thread: config.json -> family -> plan -> parts -> checkpoint -> weights -> model.
 * Everything is checked before a weight is read. Throws what each step refuses.
 */
export const loadModel = async (
  directory: string,
  asked: LoadOptions,
  { source, makeParts, makeOps, loadText, warnings = [] }: LoadPieces,
): Promise<LocalModel> => {
  const start = performance.now();
  const options = completeLoadOptions(asked);
  const { quant, kvCacheDtype, batchSize } = options;
  const file = checkModelFolder(directory);
  const loadingText = loadText(directory);
  // It is awaited below, unless another step fails first: then that is the error.
  loadingText.catch(() => undefined);
  const planned = await planFile(file, options, source);
  const { plan, rules, audit: configAudit } = planned;
  const parts = await gatherParts(plan, source, makeParts);
  const slots = planSlots(plan, parts);
  const checkpoint = openCheckpoint(directory);
  const ops = makeOps({ kvCacheDtype, threads: options.threads ?? null });
  try {
    const { weights, audit: weightAudit } = bindWeights({ slots, rules, tied: plan.head.tied, checkpoint });
    refuseBadWeights(weightAudit, { directory });
    const parameters = countParameters(slots, weights);
    refuseKernels({ directory, parameters, ops, options });
    const quantised = openQuantisedWeights({ directory, checkpoint, slots, weights, ops, quant });
    const { model, notes } = await makeModel({ plan, slots, weights, parts, ops, quant, quantised }, loadingText);
    const text = await loadingText;
    const facts = {
      directory,
      plan,
      configAudit,
      weightAudit,
      parameters,
      weightBytes: model.weightBytes,
      stateBytesPerToken: stateBytesPerToken(model.stateSlots, kvCacheDtype),
      kernels: ops.name,
      threads: ops.threads,
      quant,
      kvCacheDtype,
      loadMilliseconds: performance.now() - start,
      text: text.facts,
      warnings: [...warnings, ...unknownKeys(planned), ...checkpoint.warnings, ...kernelWarnings(), ...notes],
    };
    giveBackFreedMemoryLater();
    return new LocalModel({ facts, model, ops, checkpoint, text, batchSize });
  } catch (error) {
    ops.dispose();
    checkpoint.close();
    throw error;
  }
};

/**
 * The model, and what there is to say of its quantised weights; a failure leaves no half-written cache. Weights that are
 * only mapped are taken while the text is loaded; those that have to be quantised, when nothing is wrong with it.
 */
const makeModel = async (
  pieces: ModelPieces & { readonly quantised: QuantisedWeights },
  loadingText: Promise<TextSide>,
) => {
  try {
    if (pieces.quantised.works) await loadingText;
    const model = new Model(pieces);
    return { model, notes: pieces.quantised.finish() };
  } catch (error) {
    pieces.quantised.abandon();
    throw error;
  }
};

const planFile = async (
  file: string,
  { lenient }: CompleteLoadOptions,
  source: FamilySource,
): Promise<PlannedModel> => {
  const raw = readConfig(file);
  const { family, modelType, schemas, plugin } = await source.resolve(raw, file);
  return planModel({ family, modelType, raw, file, schemas, lenient, plugin: plugin.plugin.name });
};

/** With `lenient` an unknown key does not stop the load; it stays visible. */
const unknownKeys = ({ audit }: PlannedModel): string[] =>
  audit.refused.map(
    ({ key, value }) => `nobody knows the key "${key}": ${JSON.stringify(value)} of ${audit.file}; it is not applied`,
  );
