import type { Model } from '../runtime/model.js';
import { HEAD_ROWS } from '../runtime/model.js';
import { requireTokens } from '../runtime/prefill.js';
import type { Scheduler } from '../runtime/scheduler.js';
import type { Sequence } from '../runtime/sequence.js';
import type { ModelFacts } from '../runtime/types.js';
import type { TextSide } from '../text/types.js';
import { baseHeader, encodeHeader } from './base-header.js';
import type { BaseFormat, Protocol } from './base.js';
import { BaseWriter } from './base-writer.js';
import { modelFingerprint, vocabularyFingerprint } from './fingerprint.js';
import { fullFormat } from './full-format.js';
import { hashIds } from './int32-bytes.js';
import { openBase } from './open-base.js';
import { Progress, type RunIdentity } from './progress.js';
import { baseOutput, windowSettings } from './request.js';
import { scoreWindow } from './score-window.js';
import { scoringIds } from './scoring-ids.js';
import { ScoreTotals } from './totals.js';
import { topkFormat } from './topk-format.js';
import type { BaseModel, PerplexityProgress, PerplexityRequest, PerplexityResult } from './types.js';
import type { WindowOutcome } from './window-outcome.js';
import { planWindows, scoredIn, type ScoringWindow, type WindowSettings } from './windows.js';

/** What scoring needs of a loaded model. */
export interface ScoredModel {
  readonly facts: ModelFacts;
  readonly model: Model;
  readonly text: TextSide;
  readonly scheduler: Scheduler;
  /** Rows of one forward. */
  readonly batchSize: number;
}

/** A run that is under way. */
export interface ScoringRun {
  /** Its states are of one window at a time. */
  readonly sequence: Sequence;
  /** Aborts when the caller does, and when the model is closed. */
  readonly signal: AbortSignal;
  onProgress(progress: PerplexityProgress): void;
}

/**
 * Perplexity, and the divergence from a base: text -> ids -> windows -> logits of scored rows -> log-probabilities.
 * Nothing of the size of tokens times vocabulary is held.
 * Throws KVAD_E_OPTION, KVAD_E_SCORING_*, KVAD_E_KLD_BASE_*, KVAD_E_TOKEN_ID, KVAD_E_NAN, KVAD_E_FILE.
 */
export const perplexity = async (
  scored: ScoredModel,
  request: PerplexityRequest,
  { sequence, signal, onProgress }: ScoringRun,
): Promise<PerplexityResult> => {
  const { facts, model, text, scheduler, batchSize } = scored;
  const settings = windowSettings(request, model.contextLength);
  const output = request.kldBaseOut ? baseOutput(request.kldBaseOut, settings.method) : null;
  // Before they become 32-bit integers, which would wrap what is no id.
  if ('ids' in request.input) requireTokens(model, request.input.ids);
  const { ids, bos } = await scoringIds(request.input, { directory: facts.directory, text, signal });
  requireTokens(model, ids);
  const windows = planWindows(ids.length, settings);
  const protocol = protocolOf(scored, request, settings, windows, ids, bos);
  const base = request.kld === undefined ? null : openBase(request.kld, protocol);
  let files: RunFiles | null = null;
  try {
    const totals = new ScoreTotals(windows, protocol, base);
    files = openFiles(scored, request, protocol, output, windows);
    const { writer, progress, done } = files;
    totals.resume(done);
    const scorer = { model, scheduler, sequence, chunk: batchSize, protocol, base, writer, signal };
    for (const window of windows.slice(done.length)) {
      const outcome = await scoreWindow(scorer, window, totals.scoredTokens);
      totals.add(outcome);
      progress?.add(outcome);
      onProgress(totals.progress());
    }
    writer?.finish(totals.scoredTokens);
    return totals.result({
      headRows: HEAD_ROWS,
      batchSize,
      baseFile: request.kld ?? null,
      ids: request.tokenIds === true,
    });
  } catch (error) {
    // With a progress file the rows that are there serve the run that goes on.
    if (files?.progress) files.writer?.close();
    else files?.writer?.discard();
    throw error;
  } finally {
    files?.progress?.close();
    base?.close();
  }
};

const protocolOf = (
  { text, model }: ScoredModel,
  { kld, kldBaseOut }: PerplexityRequest,
  settings: WindowSettings,
  windows: readonly ScoringWindow[],
  ids: Int32Array,
  bos: number | null,
): Protocol => {
  const { vocabSize } = model.plan;
  const usesBase = kld !== undefined || kldBaseOut !== undefined;
  return {
    ...settings,
    windows: windows.length,
    scoredTokens: windows.reduce((total, window) => total + scoredIn(window), 0),
    bos,
    ids,
    idsSha256: hashIds(ids),
    vocabSize,
    vocabularySha256: usesBase ? vocabularyFingerprint(text, vocabSize) : null,
  };
};

/** What a run writes beside its result, and the windows that an earlier run has left. */
interface RunFiles {
  readonly writer: BaseWriter | null;
  readonly progress: Progress | null;
  readonly done: readonly WindowOutcome[];
}

type Output = ReturnType<typeof baseOutput>;

const openFiles = (
  scored: ScoredModel,
  request: PerplexityRequest,
  protocol: Protocol,
  output: Output | null,
  windows: readonly ScoringWindow[],
): RunFiles => {
  const { progress: asked } = request;
  const format = output && formatOf(scored, protocol, output);
  if (!asked)
    return { writer: output && format && BaseWriter.create(output.file, format, output), progress: null, done: [] };

  const identity = identityOf(scored, request, protocol, output);
  let done = asked.resume === true ? Progress.read(asked.file, identity) : [];
  let writer: BaseWriter | null = null;
  if (output && format) {
    writer = done.length > 0 ? BaseWriter.reopen(output.file, format, output) : null;
    done = writer ? done.slice(0, windowsWithin(windows, writer.rows)) : [];
    writer ??= BaseWriter.create(output.file, format, output);
  }
  return { writer, progress: Progress.begin(asked.file, identity, done), done };
};

/** Windows all of whose rows are among the first `rows`. */
const windowsWithin = (windows: readonly ScoringWindow[], rows: number): number => {
  let left = rows;
  const cut = windows.findIndex((window) => (left -= scoredIn(window)) < 0);
  return cut < 0 ? windows.length : cut;
};

const formatOf = (scored: ScoredModel, protocol: Protocol, { format, topK }: Output): BaseFormat => {
  if (format === 'full') return fullFormat(protocol);
  const k = Math.min(topK, protocol.vocabSize);
  return topkFormat(encodeHeader(baseHeader(protocol, k, baseModel(scored))), k);
};

const baseModel = ({ facts }: ScoredModel): BaseModel => ({
  directory: facts.directory,
  fingerprint: modelFingerprint(facts.directory),
  quant: facts.quant,
  kvCacheDtype: facts.kvCacheDtype,
  kernels: facts.kernels,
});

const identityOf = (
  { facts, batchSize }: ScoredModel,
  { kld }: PerplexityRequest,
  protocol: Protocol,
  output: Output | null,
): RunIdentity => ({
  hash_of_token_ids: protocol.idsSha256,
  method: protocol.method,
  ctx: protocol.ctx,
  stride: protocol.stride,
  number_of_windows: protocol.windows,
  bos: protocol.bos,
  model: facts.directory,
  model_fingerprint: modelFingerprint(facts.directory),
  kernels: facts.kernels,
  threads: facts.threads,
  quant: facts.quant,
  kv_cache_dtype: facts.kvCacheDtype,
  batch_size: batchSize,
  base: kld ?? null,
  written_base: output?.file ?? null,
  format_of_the_written_base: output && `${output.format} ${output.topK}`,
});
