import type { Base, Protocol } from './base.js';
import { KldTotals } from './kld-totals.js';
import { addSums, defined, meanOf, NO_SUMS, perplexityOf, type Mean } from './mean.js';
import type { KldResult, PerplexityProgress, PerplexityResult, WindowScore } from './types.js';
import type { WindowOutcome } from './window-outcome.js';
import { scoredIn, type ScoringWindow } from './windows.js';

interface Frame {
  readonly headRows: number;
  readonly batchSize: number;
  readonly baseFile: string | null;
  readonly ids: boolean;
}

/** What the windows of a run add up to. They are added in order. */
export class ScoreTotals {
  readonly #planned: readonly ScoringWindow[];
  readonly #protocol: Protocol;
  readonly #base: Base | null;
  readonly #kld: KldTotals | null;
  readonly #windows: WindowScore[] = [];
  #nll = NO_SUMS;
  #scoredTokens = 0;
  #prefillTokens = 0;
  #seconds = 0;
  /** Of an earlier run, which took none of this one's time. */
  #resumed = { windows: 0, seconds: 0, prefillTokens: 0 };

  constructor(planned: readonly ScoringWindow[], protocol: Protocol, base: Base | null) {
    this.#planned = planned;
    this.#protocol = protocol;
    this.#base = base;
    this.#kld = base && new KldTotals(protocol.scoredTokens);
  }

  get scoredTokens(): number {
    return this.#scoredTokens;
  }

  add({ index, nll, seconds, kld }: WindowOutcome): void {
    const window = this.#planned[index]!;
    const scored = scoredIn(window);
    const mean = meanOf(nll, scored);
    this.#windows.push({
      ...window,
      scored,
      nllSum: defined(nll.sum),
      meanNll: mean.mean,
      perplexity: perplexityOf(mean).mean,
      seconds,
    });
    this.#nll = addSums(this.#nll, nll);
    this.#scoredTokens += scored;
    this.#prefillTokens += window.end - window.begin;
    this.#seconds += seconds;
    if (kld) this.#kld?.add(kld);
  }

  /** Windows that an earlier run had done. */
  resume(outcomes: readonly WindowOutcome[]): void {
    for (const outcome of outcomes) this.add(outcome);
    this.#resumed = { windows: outcomes.length, seconds: this.#seconds, prefillTokens: this.#prefillTokens };
  }

  progress(): PerplexityProgress {
    const { mean, uncertainty } = perplexityOf(this.#mean());
    const { windows, seconds, prefillTokens } = this.#resumed;
    return {
      type: 'perplexity',
      windowsDone: this.#windows.length,
      windows: this.#planned.length,
      windowsResumed: windows,
      perplexity: mean,
      perplexityUncertainty: uncertainty,
      meanKld: this.#kld?.meanKld ?? null,
      seconds: this.#seconds - seconds,
      prefillTokens: this.#prefillTokens - prefillTokens,
    };
  }

  result({ headRows, batchSize, baseFile, ids: wanted }: Frame): PerplexityResult {
    const { ids, idsSha256, method, ctx, stride, chunks, bos } = this.#protocol;
    const nll = this.#mean();
    const { mean, uncertainty } = perplexityOf(nll);
    return {
      ...{ tokens: ids.length, ids: wanted ? ids : null, tokenIdsSha256: idsSha256, method, ctx, stride, chunks, bos },
      scoredTokens: this.#scoredTokens,
      meanNll: nll.mean,
      meanNllUncertainty: nll.uncertainty,
      perplexity: mean,
      perplexityUncertainty: uncertainty,
      prefillTokens: this.#prefillTokens,
      elapsedSeconds: this.#seconds,
      headRows,
      batchSize,
      kld: this.#comparison(baseFile),
      windows: this.#windows,
    };
  }

  #mean(): Mean {
    return meanOf(this.#nll, this.#scoredTokens);
  }

  #comparison(file: string | null): KldResult | null {
    if (this.#base === null || this.#kld === null || file === null) return null;
    const { format, topK, model } = this.#base;
    return { base: file, format, topK, tokens: this.#scoredTokens, baseModel: model, ...this.#kld.figures() };
  }
}
