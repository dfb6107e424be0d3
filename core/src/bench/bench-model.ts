import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { KvadError } from '../errors/kvad-error.js';
import { createReferenceOps } from '../kernels/reference/index.js';
import { stateBytes } from '../runtime/measure.js';
import { contextOf } from '../runtime/model.js';
import { plannedStates } from '../runtime/planned-states.js';
import { Arm, type ArmOptions } from './arm.js';
import { availableMemory, BANDWIDTH_BYTES, ReadBandwidth } from './machine.js';
import type { BenchSource } from './sources.js';
import { spread, type Spread } from './statistics.js';
import { weightTraffic, type Variant } from './variants.js';

export interface BenchOptions extends ArmOptions {
  readonly variants: readonly Variant[];
  /** Rounds that count; one more comes before them and is dropped. */
  readonly rounds: number;
  readonly promptTokens: number;
  readonly decodeTokens: number;
  /** Tokens before those that are decoded. */
  readonly depth: number;
  /** Decodes once more in each round while another process keeps one processor busy. */
  readonly besideBusy: boolean;
  readonly signal: AbortSignal;
  /** Called before each round, the dropped one being 0. */
  onRound?(round: number): void;
}

/** Rates are per round; a round's decode rate is tokens by time of all its steps. */
export interface BenchResult {
  readonly model: string;
  readonly variant: string;
  readonly kernels: string;
  readonly threads: number;
  /** Bytes. */
  readonly weightBytes: number;
  readonly weightBytesPerToken: number;
  readonly loadMilliseconds: number;
  readonly prefillTokensPerSecond: Spread;
  readonly decodeTokensPerSecond: Spread;
  /** From a prompt of `promptTokens` to its first token. */
  readonly ttftMilliseconds: Spread;
  /** The slowest step by the median one, over all rounds. */
  readonly slowestStep: number;
  /** Bytes a second of weights while decoding. */
  readonly weightBandwidth: number;
  /** `weightBandwidth` by the machine's read bandwidth of the same rounds; null without the native arithmetic. */
  readonly bandwidthShare: number | null;
  readonly besideBusy: Spread | null;
}

export interface BenchRun {
  readonly results: readonly BenchResult[];
  /** Bytes a second that a bare read loop reaches; null without the native arithmetic. */
  readonly readBandwidth: Spread | null;
  /** Of loading the variants, each once. */
  readonly notes: readonly string[];
}

interface Measured {
  readonly arm: Arm;
  readonly prefill: number[];
  readonly decode: number[];
  readonly steps: number[];
  readonly busy: number[];
}

/**
 * Measures the variants of one model in turns, so that a machine that changes its speed changes it for all. Throws
 * KVAD_E_BENCH_MEMORY where they do not fit in memory together, KVAD_E_CONTEXT, and the reason of an abort.
 */
export const benchModel = async (source: BenchSource, options: BenchOptions): Promise<BenchRun> => {
  // Weights first: states are planned in memory that a plan of any size would not leave.
  requireMemory(source, options.variants, 0);
  const longest = Math.max(options.promptTokens, options.depth + options.decodeTokens);
  if (longest > contextOf(source.plan)) {
    throw new KvadError('KVAD_E_CONTEXT', { tokens: longest, contextLength: contextOf(source.plan) });
  }
  requireMemory(source, options.variants, sequenceBytes(source, longest, options.kvCacheDtype));
  const arms: Arm[] = [];
  let bandwidth: ReadBandwidth | null = null;
  try {
    for (const variant of options.variants) arms.push(new Arm(source, variant, options));
    bandwidth = ReadBandwidth.open(arms[0]!.threads);
    const measured = arms.map((arm) => ({ arm, prefill: [], decode: [], steps: [], busy: [] }) satisfies Measured);
    const reads: number[] = [];
    for (let round = 0; round <= options.rounds; round++) {
      options.onRound?.(round);
      const into =
        round === 0 ? measured.map((one) => ({ ...one, prefill: [], decode: [], steps: [], busy: [] })) : measured;
      // Each round begins with another variant: none is always the one after the pause.
      for (let i = 0; i < into.length; i++) {
        if (bandwidth !== null) (round === 0 ? [] : reads).push(bandwidth.measure());
        await oneRound(into[(i + round) % into.length]!, source, options);
      }
    }
    const readBandwidth = reads.length > 0 ? spread(reads) : null;
    const results = measured.map((one) => resultOf(one, source, options, readBandwidth));
    return { results, readBandwidth, notes: [...new Set(arms.flatMap(({ notes }) => notes))] };
  } finally {
    bandwidth?.close();
    for (const arm of arms) arm.close();
  }
};

const oneRound = async (into: Measured, { plan }: BenchSource, options: BenchOptions): Promise<void> => {
  const { promptTokens, decodeTokens, depth, signal } = options;
  const prompt = tokens(promptTokens, plan.vocabSize);
  const following = tokens(depth + decodeTokens, plan.vocabSize);
  into.prefill.push(await into.arm.prefill(prompt, signal));
  const steps = await into.arm.decode(following, depth, signal);
  into.steps.push(...steps);
  into.decode.push(sum(steps));
  if (!options.besideBusy) return;
  const other = await busyProcess();
  try {
    into.busy.push(sum(await into.arm.decode(following, depth, signal)));
  } finally {
    other.kill('SIGKILL');
  }
};

const resultOf = (
  { arm, prefill, decode, steps, busy }: Measured,
  source: BenchSource,
  { promptTokens, decodeTokens }: BenchOptions,
  readBandwidth: Spread | null,
): BenchResult => {
  const decodeTokensPerSecond = spread(decode.map((seconds) => decodeTokens / seconds));
  const weightBandwidth = decodeTokensPerSecond.median * arm.traffic.perToken;
  return {
    model: source.name,
    variant: arm.variant.name,
    kernels: arm.kernels,
    threads: arm.threads,
    weightBytes: arm.traffic.held,
    weightBytesPerToken: Math.round(arm.traffic.perToken),
    loadMilliseconds: arm.loadMilliseconds,
    prefillTokensPerSecond: spread(prefill.map((seconds) => promptTokens / seconds)),
    decodeTokensPerSecond,
    ttftMilliseconds: spread(prefill.map((seconds) => seconds * 1000)),
    slowestStep: Math.max(...steps) / spread(steps).median,
    weightBandwidth,
    bandwidthShare: readBandwidth && weightBandwidth / readBandwidth.median,
    besideBusy: busy.length > 0 ? spread(busy.map((seconds) => decodeTokens / seconds)) : null,
  };
};

/** Bytes of the states of a sequence of so many tokens. */
const sequenceBytes = ({ plan, slots, parts }: BenchSource, tokens: number, kvCacheDtype: 'f16' | 'f32'): number =>
  stateBytes(plannedStates(plan, slots, parts, createReferenceOps({ kvCacheDtype })), kvCacheDtype, tokens);

/** What does not fit would be measured with its pages coming and going. `state`: bytes of a sequence, of which one at a time is there. */
const requireMemory = (
  { name, plan, slots, ...source }: BenchSource,
  variants: readonly Variant[],
  state: number,
): void => {
  const weights = source.weights('bf16');
  const bytes = variants.map(({ precision }) => weightTraffic(plan, slots, weights, precision).held);
  const needed = sum(bytes) + Math.max(0, ...bytes) * 0.1 + BANDWIDTH_BYTES + state;
  const available = availableMemory();
  if (needed > available) {
    const names = variants.map((variant) => variant.name);
    throw new KvadError('KVAD_E_BENCH_MEMORY', { model: name, variants: names, needed, available });
  }
};

/** Ends by itself where this process has been killed. */
const BUSY_LOOP =
  'for (let i = 0; ; i++) if (i % 1e7 === 0 && process.ppid !== Number(process.argv[1])) process.exit()';

/** A process that keeps one processor busy; given back once it does. */
const busyProcess = async (): Promise<ChildProcess> => {
  const child = spawn(process.execPath, ['-e', BUSY_LOOP, String(process.pid)], { stdio: 'ignore' });
  await sleep(300);
  return child;
};

/** Ids spread over the vocabulary, the same each time. */
const tokens = (count: number, vocabSize: number): number[] =>
  Array.from({ length: count }, (_, i) => Math.imul(i + 1, 2654435761) >>> 0).map((hash) => hash % vocabSize);

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
