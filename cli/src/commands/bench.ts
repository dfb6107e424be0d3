import {
  benchKernels,
  benchModel,
  BUSY_SHARE,
  checkModelFolder,
  folderSource,
  gatherParts,
  isKvadError,
  isRefusedByArithmetic,
  KvadError,
  machineFacts,
  OthersShare,
  PartRegistry,
  planProblem,
  planSource,
  variantsOf,
  type BenchOptions,
  type BenchPrecision,
  type BenchRun,
  type BenchSource,
  type PlanProblem,
} from '@kvad/core';
import type { CliBench, ModelPlan } from '@kvad/schemas';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from '@kvad/arch-registry';
import { writeJson, writeLine, type Io } from '../io/io.js';
import { readJsonInput } from '../io/read-input.js';
import { warn } from '../io/warn.js';
import { modelFolder, placesOf } from '../model-folder.js';
import type { Action } from './actions.js';
import { benchPage } from './bench-page.js';
import { kernelObject, spreadOf, variantObject } from './bench-report.js';
import { loadOptions } from './load-options.js';
import { openRegistry } from './open-registry.js';
import { lenientWarnings, planFile } from './planned-model.js';
import type { Options } from './table.js';

const PRECISIONS: readonly BenchPrecision[] = ['f32', 'bf16', 'q8', 'q4'];
/** How long the machine is watched before it is used. */
const WATCH_MILLISECONDS = 500;

/** `kvad bench [MODEL…]`: exit code 1 if a kernel differs from the reference. */
export const bench: Action<'bench'> = async (io, { args, options }) => {
  const start = performance.now();
  refuseIdleFlags(args.models, options);
  const settings = settingsOf(io, options);
  const facts = machineFacts();
  const watched = new OthersShare();
  await sleep(WATCH_MILLISECONDS, undefined, { signal: io.interrupt });
  const before = watched.value;
  const warnings: string[] = [];
  if (before > BUSY_SHARE)
    await note(io, warnings, `others use ${percent(before)} of the processors: wait until the machine is quiet`);

  const during = new OthersShare();
  const kernels = options.kernels
    ? benchKernels({ ...settings, precisions: precisionsOf(options.quant) }).results.map(kernelObject)
    : [];
  const runs: BenchRun[] = [];
  if (!options.kernels) {
    const registry = openRegistry(io, options.plugin);
    const asked = options.plan === undefined ? (args.models.length === 0 ? [null] : args.models) : [];
    if (options.plan !== undefined) runs.push(await measuredPlan(io, options.plan, registry, settings));
    for (const model of asked)
      runs.push(await measured(await fromFolder(io, model, options, registry, warnings), settings));
  }
  for (const warning of runs.flatMap(({ notes }) => notes)) await note(io, warnings, warning);
  const busyDuring = options.besideBusy ? null : during.value;
  if (busyDuring !== null && busyDuring > BUSY_SHARE) {
    await note(
      io,
      warnings,
      `others used ${percent(busyDuring)} of the processors meanwhile: these numbers say more of them than of kvad`,
    );
  }
  const reads = runs.map((run) => run.readBandwidth).filter((read) => read !== null);
  const result: CliBench = {
    object: 'kvad.bench',
    machine: {
      cpu: facts.cpu,
      processors: facts.processors,
      load_average: facts.loadAverage,
      busy_before: before,
      busy_during: busyDuring,
      busy: before > BUSY_SHARE || (busyDuring ?? 0) > BUSY_SHARE,
      read_gigabytes_per_second: reads[0] === undefined ? null : spreadOf(reads[0], 1e-9),
    },
    config: {
      rounds: settings.rounds,
      prompt_tokens: settings.promptTokens,
      decode_tokens: settings.decodeTokens,
      depth: settings.depth,
      kv_cache_dtype: settings.kvCacheDtype,
      batch_size: settings.batchSize,
    },
    results: runs.flatMap(({ results }) => results.map(variantObject)),
    kernels,
    warnings,
    elapsed_ms: performance.now() - start,
  };
  if (options.json) await writeJson(io.stdout, result);
  else await writeLine(io.stdout, benchPage(result));
  return kernels.every(({ agrees }) => agrees) ? 0 : 1;
};

/** What would be passed over in silence is refused. Throws KVAD_E_USAGE. */
const refuseIdleFlags = (models: readonly string[], options: Options<'bench'>): void => {
  const { plan, kernels } = options;
  const idle = {
    MODEL: models.length > 0 && (kernels || plan !== undefined),
    '--plan': plan !== undefined && kernels,
    '--control': options.control && kernels,
    '--beside-busy': options.besideBusy && kernels,
  };
  const flag = Object.entries(idle).find(([, isIdle]) => isIdle)?.[0];
  if (flag === undefined) return;
  const problem = `${flag} does not go with ${kernels ? '--kernels, which measures no model' : '--plan'}`;
  throw new KvadError('KVAD_E_USAGE', { problem, command: 'bench' });
};

const settingsOf = (io: Io, options: Options<'bench'>): BenchOptions => ({
  variants: variantsOf(precisionsOf(options.quant), options.control, io.env['KVAD_DEQUANT'] === '1'),
  rounds: options.rounds ?? 5,
  promptTokens: options.promptTokens ?? 512,
  decodeTokens: options.decodeTokens ?? 32,
  depth: options.depth ?? 0,
  besideBusy: options.besideBusy,
  threads: loadOptions(io, { threads: options.threads }).threads ?? null,
  kvCacheDtype: options.kvCacheDtype ?? 'f16',
  batchSize: options.batchSize ?? 512,
  signal: io.interrupt,
});

const precisionsOf = (list: string | undefined): BenchPrecision[] =>
  (list ?? 'bf16,q8,q4').split(',').map((name) => {
    const precision = PRECISIONS.find((known) => known === name.trim());
    if (precision !== undefined) return precision;
    throw new KvadError('KVAD_E_OPTION', {
      option: '--quant',
      value: name.trim() || 'empty',
      expected: `some of ${PRECISIONS.join(', ')}`,
    });
  });

const measured = async (source: BenchSource, settings: BenchOptions): Promise<BenchRun> => {
  try {
    return await benchModel(source, settings);
  } finally {
    source.close();
  }
};

const measuredPlan = async (io: Io, file: string, registry: Registry, settings: BenchOptions): Promise<BenchRun> => {
  const source = await fromPlan(io, file, registry);
  return ofPlan(file, () => measured(source, settings));
};

const fromPlan = async (io: Io, file: string, registry: Registry): Promise<BenchSource> => {
  const plan = await readJsonInput(io, file);
  const problem = planProblem(plan) ?? embeddingProblem(plan as ModelPlan);
  if (problem !== null) throw new KvadError('KVAD_E_PLAN_FILE', { file, ...problem });
  return ofPlan(file, async () => planSource(file, plan as ModelPlan, await partsOf(plan as ModelPlan, registry)));
};

const embeddingProblem = ({ embedding: { size, project }, hiddenSize }: ModelPlan): PlanProblem | null =>
  project !== null || size === hiddenSize
    ? null
    : {
        path: 'embedding.size',
        reason: `is ${size}, hiddenSize is ${hiddenSize}, and nothing projects one to the other`,
      };

/** What parts say of a plan, with codes that do not name its file. */
const OF_A_PLAN: ReadonlySet<string> = new Set([
  ...['KVAD_E_PLAN_OPTIONS', 'KVAD_E_PLAN_SCHEDULE', 'KVAD_E_PLAN_SLOT', 'KVAD_E_PLUGIN'],
]);

/** A plan of a file may be anybody's: what parts and arithmetic refuse of it is said of the file. Throws KVAD_E_PLAN_FILE. */
const ofPlan = async <T>(file: string, act: () => Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    if (isKvadError(error) ? !OF_A_PLAN.has(error.code) : !isRefusedByArithmetic(error)) throw error;
    const reason = `has sizes or parts that do not go together: ${(error as Error).message}`;
    throw new KvadError('KVAD_E_PLAN_FILE', { file, path: '', reason }, { cause: error });
  }
};

const fromFolder = async (
  io: Io,
  model: string | null,
  { lenient }: Options<'bench'>,
  registry: Registry,
  warnings: string[],
): Promise<BenchSource> => {
  const folder = modelFolder(model, placesOf(io));
  const planned = await planFile(registry, checkModelFolder(folder), { lenient });
  for (const warning of lenientWarnings(planned.audit)) await note(io, warnings, warning);
  return folderSource(folder, planned, await partsOf(planned.plan, registry));
};

const partsOf = (plan: ModelPlan, registry: Registry): Promise<PartRegistry> =>
  gatherParts(plan, registry, (plugins) => PartRegistry.of(plugins));

const note = async (io: Io, warnings: string[], warning: string): Promise<void> => {
  warnings.push(warning);
  await warn(io, warning);
};

const percent = (share: number): string => `${Math.round(100 * share)} %`;
