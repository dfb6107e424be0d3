import { cpus } from 'node:os';
import { KLD_FIGURES, type KldResult, type ModelFacts, type PerplexityResult, type WindowScore } from '@kvad/core';
import type { CliPerplexity, PerplexityConfig, PerplexityKld, PerplexityWindow } from '@kvad/schemas';
import { perSecond } from '../io/quantities.js';
import { textTable } from '../io/text-table.js';
import type { NamedModel } from '../model-folder.js';

/** The JSON of a run. */
export const perplexityObject = (
  names: NamedModel,
  facts: ModelFacts,
  result: PerplexityResult,
  { noWindows }: { readonly noWindows: boolean },
): CliPerplexity => ({
  object: 'kvad.perplexity',
  ...names,
  family: facts.plan.family,
  model_type: facts.plan.modelType,
  tokens: result.tokens,
  token_ids_sha256: result.tokenIdsSha256,
  ...(result.ids === null ? {} : { token_ids: [...result.ids] }),
  method: result.method,
  ctx: result.ctx,
  stride: result.stride,
  chunks: result.chunks,
  bos: result.bos,
  windows_scored: result.windows.length,
  scored_tokens: result.scoredTokens,
  mean_nll: result.meanNll,
  mean_nll_uncertainty: result.meanNllUncertainty,
  perplexity: result.perplexity,
  perplexity_uncertainty: result.perplexityUncertainty,
  elapsed_seconds: result.elapsedSeconds,
  prefill_tokens: result.prefillTokens,
  prefill_tokens_per_second: perSecond(result.prefillTokens, result.elapsedSeconds * 1000),
  config: configOf(facts, result),
  kld: result.kld && kldObject(result.kld),
  ...(noWindows ? {} : { windows: result.windows.map(windowObject) }),
  warnings: [...facts.warnings],
});

const configOf = (facts: ModelFacts, { batchSize, headRows }: PerplexityResult): PerplexityConfig => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  kernels: facts.kernels,
  threads: facts.threads,
  quant: facts.quant,
  kv_cache_dtype: facts.kvCacheDtype,
  batch_size: batchSize,
  head_rows: headRows,
  fallback: facts.kernels === 'reference' ? 'reference' : null,
});

const kldObject = (kld: KldResult): PerplexityKld => ({
  base: kld.base,
  base_format: kld.format,
  top_k: kld.topK,
  base_model: kld.baseModel && {
    model: kld.baseModel.directory,
    fingerprint: kld.baseModel.fingerprint,
    quant: kld.baseModel.quant,
    kv_cache_dtype: kld.baseModel.kvCacheDtype,
    kernels: kld.baseModel.kernels,
  },
  tokens: kld.tokens,
  ...(Object.fromEntries(KLD_FIGURES.map((figure) => [snakeCase(figure), kld[figure]])) as Omit<
    PerplexityKld,
    'base' | 'base_format' | 'top_k' | 'base_model' | 'tokens'
  >),
});

/** `kldP99_9` -> `kld_p99_9` */
export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const windowObject = (window: WindowScore): PerplexityWindow => ({
  index: window.index,
  begin: window.begin,
  end: window.end,
  first_target: window.firstTarget,
  scored: window.scored,
  nll_sum: window.nllSum,
  mean_nll: window.meanNll,
  perplexity: window.perplexity,
  seconds: window.seconds,
});

/** For people. */
export const perplexityPage = (result: CliPerplexity): string => {
  const { method, ctx, stride, windows_scored: windows, scored_tokens: scored, config } = result;
  const how = stride === null ? `${method} of ${ctx}` : `${method} of ${ctx} every ${stride}`;
  const quant = config.quant ?? 'as stored';
  const rows = [
    ['perplexity', figure(result.perplexity, result.perplexity_uncertainty, 4)],
    ['mean NLL', `${figure(result.mean_nll, result.mean_nll_uncertainty, 6)} nats`],
    ['scored', `${scored} of ${result.tokens} tokens in ${windows} windows (${how})`],
    ['arithmetic', `${config.kernels}, weights ${quant}, KV cache ${config.kv_cache_dtype}`],
    ['speed', `${result.prefill_tokens_per_second.toFixed(0)} tok/s, ${result.elapsed_seconds.toFixed(1)} s`],
    ...(result.kld ? kldRows(result.kld) : []),
  ];
  return textTable(rows);
};

const kldRows = (kld: PerplexityKld): string[][] => [
  ['', ''],
  ['base', `${kld.base} (${kld.top_k === null ? 'full' : `top ${kld.top_k}`})`],
  ...(kld.base_model === null ? [] : [['made by', `${kld.base_model.model}, ${kld.base_model.quant ?? 'as stored'}`]]),
  ['base perplexity', figure(kld.base_perplexity, kld.base_perplexity_uncertainty, 4)],
  ['perplexity / base', figure(kld.perplexity_ratio, kld.perplexity_ratio_uncertainty, 6)],
  ['perplexity - base', figure(kld.delta_perplexity, kld.delta_perplexity_uncertainty, 6)],
  ['ln of the ratio', figure(kld.mean_log_ratio, kld.mean_log_ratio_uncertainty, 6)],
  ['correlation', percent(kld.correlation)],
  ['', ''],
  ['mean KLD', figure(kld.mean_kld, kld.mean_kld_uncertainty, 6)],
  ...percentiles({
    'maximum KLD': kld.kld_max,
    '99.9 % KLD': kld.kld_p99_9,
    '99 % KLD': kld.kld_p99,
    '95 % KLD': kld.kld_p95,
    '90 % KLD': kld.kld_p90,
    'median KLD': kld.kld_median,
    '10 % KLD': kld.kld_p10,
    'minimum KLD': kld.kld_min,
  }),
  ['', ''],
  ['mean Δp', percent(kld.mean_delta_p, kld.mean_delta_p_uncertainty)],
  ['RMS Δp', percent(kld.rms_delta_p, kld.rms_delta_p_uncertainty)],
  ['largest Δp', `${percent(kld.delta_p_min)} to ${percent(kld.delta_p_max)}`],
  ['same top', percent(kld.same_top, kld.same_top_uncertainty)],
];

const percentiles = (values: Readonly<Record<string, number | null>>): string[][] =>
  Object.entries(values).map(([label, value]) => [label, figure(value, undefined, 6)]);

const figure = (value: number | null, uncertainty: number | null | undefined, digits: number): string => {
  if (value === null) return 'undefined';
  const error = uncertainty === undefined || uncertainty === null ? '' : ` ± ${uncertainty.toFixed(digits)}`;
  return `${value.toFixed(digits)}${error}`;
};

const percent = (value: number | null, uncertainty?: number | null): string =>
  value === null
    ? 'undefined'
    : `${figure(value * 100, uncertainty === undefined || uncertainty === null ? undefined : uncertainty * 100, 3)} %`;
