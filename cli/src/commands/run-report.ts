import type { GenerateEvent, GenerateStats, LoadedModel, ModelFacts, SamplingOptions } from '@kvad/core';
import type { CliRun, RunToken } from '@kvad/schemas';
import { colorsFor } from '../io/colors.js';
import { write, writeJson, writeLine, type Io } from '../io/io.js';
import { formatSeconds, perSecond } from '../io/quantities.js';
import type { NamedModel } from '../model-folder.js';

/** Takes the events of a generation, in order, and tells the user of them. */
export type Report = (event: GenerateEvent) => Promise<void>;

/** Text to stdout as it is made; log-probabilities and, on a terminal, the speed to stderr. */
export const textReport = (io: Io, { logprobs }: { logprobs: boolean }): Report => {
  let last = '';
  const print = async (text: string): Promise<void> => {
    last = text.at(-1) ?? last;
    await write(io.stdout, text);
  };
  return async (event) => {
    if (event.type === 'token') {
      await print(event.text);
      if (logprobs) await writeLine(io.stderr, logprobLine(event));
    } else if (event.type === 'end') {
      await print(event.text);
      if (last !== '\n') await write(io.stdout, '\n');
      if (io.stderr.isTTY === true) await writeLine(io.stderr, colorsFor(io, io.stderr).dim(summary(event.stats)));
    }
  };
};

type TokenEvent = Extract<GenerateEvent, { type: 'token' }>;

const logprobLine = ({ id, text, logprob, top }: TokenEvent): string => {
  const others = top.map((token) => `${token.id}:${token.logprob.toFixed(4)}`).join(' ');
  return `${id}\t${logprob === null ? '-' : logprob.toFixed(4)}\t${JSON.stringify(text)}\t${others}`.trimEnd();
};

/** `[prefill 41 tokens in 1.10s · generated 56 in 1.62s = 34.6 tok/s]` */
export const summary = (stats: GenerateStats): string => {
  const { promptTokens, reusedTokens, generatedTokens, prefillMilliseconds, decodeMilliseconds } = stats;
  const prefill = `prefill ${promptTokens - reusedTokens} tokens in ${formatSeconds(prefillMilliseconds)}`;
  const rate = perSecond(generatedTokens, decodeMilliseconds).toFixed(1);
  return `[${prefill} · generated ${generatedTokens} in ${formatSeconds(decodeMilliseconds)} = ${rate} tok/s]`;
};

interface RunSettings extends SamplingOptions {
  readonly maxTokens: number;
  readonly batchSize: number;
}

/** One object on stdout at the end. */
export const jsonReport = (
  io: Io,
  names: NamedModel,
  { facts }: Pick<LoadedModel, 'facts'>,
  settings: RunSettings,
): Report => {
  let promptIds: readonly number[] = [];
  let text = '';
  const tokens: TokenEvent[] = [];
  return async (event) => {
    if (event.type === 'prompt') {
      promptIds = event.ids;
    } else if (event.type === 'token') {
      text += event.text;
      tokens.push(event);
    } else {
      await writeJson(
        io.stdout,
        runObject(names, facts, settings, promptIds, tokens, { ...event, text: text + event.text }),
      );
    }
  };
};

const runObject = (
  names: NamedModel,
  facts: ModelFacts,
  settings: RunSettings,
  promptIds: readonly number[],
  tokens: readonly TokenEvent[],
  { text, reason, stats }: Extract<GenerateEvent, { type: 'end' }>,
): CliRun => ({
  object: 'kvad.run',
  ...names,
  family: facts.plan.family,
  model_type: facts.plan.modelType,
  text,
  finish_reason: reason,
  prompt_tokens: stats.promptTokens,
  reused_tokens: stats.reusedTokens,
  generated_tokens: stats.generatedTokens,
  prompt_ids: [...promptIds],
  ids: tokens.filter(({ echo }) => !echo).map(({ id }) => id),
  ...(tokens.some(({ logprob }) => logprob !== null) ? { tokens: tokens.map(runToken) } : {}),
  sampling: runSampling(settings),
  config: runConfig(facts, settings.batchSize),
  timings: {
    load_ms: facts.loadMilliseconds,
    prefill_ms: stats.prefillMilliseconds,
    decode_ms: stats.decodeMilliseconds,
    prefill_tokens_per_second: perSecond(stats.promptTokens - stats.reusedTokens, stats.prefillMilliseconds),
    decode_tokens_per_second: perSecond(stats.generatedTokens, stats.decodeMilliseconds),
  },
  warnings: [...facts.warnings],
});

export const runSampling = (settings: SamplingOptions & { readonly maxTokens: number }): CliRun['sampling'] => ({
  temperature: settings.temperature,
  top_k: settings.topK,
  top_p: settings.topP,
  min_p: settings.minP,
  repeat_penalty: settings.repeatPenalty,
  repeat_window: settings.repeatWindow,
  seed: settings.seed,
  max_tokens: settings.maxTokens,
});

export const runConfig = (facts: ModelFacts, batchSize: number): CliRun['config'] => ({
  quant: facts.quant,
  kv_cache_dtype: facts.kvCacheDtype,
  kernels: facts.kernels,
  threads: facts.threads,
  batch_size: batchSize,
});

const runToken = ({ id, text, echo, logprob, top }: TokenEvent): RunToken => ({
  id,
  text,
  echo,
  logprob,
  top: top.map((token) => ({ ...token })),
});
