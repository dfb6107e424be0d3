import type { PerplexityResult } from '@kvad/core';
import type { Tally } from './report.js';
import type { ExpectedFile, ScoringFolder } from './scoring-folder.js';

/** A run of `expected-chunks*.json`, `expected-bos.json` or `expected-sliding.json`. */
interface ExpectedRun {
  readonly method: 'chunks' | 'sliding';
  readonly ctx: number;
  readonly stride?: number;
  readonly tokens: number;
  readonly token_ids_sha256: string;
  readonly windows_scored: number;
  readonly scored_tokens: number;
  readonly prefill_tokens: number;
  readonly mean_nll: number;
  readonly mean_nll_uncertainty: number;
  readonly perplexity: number;
  readonly perplexity_uncertainty: number;
  readonly windows: readonly ExpectedWindow[];
}

interface ExpectedWindow {
  readonly begin: number;
  readonly end: number;
  readonly first_target: number;
  readonly scored: number;
  readonly nll_sum: number;
  /** Chunks only: of all windows so far. */
  readonly running_mean_nll?: number;
  readonly running_mean_nll_uncertainty?: number;
  readonly running_perplexity?: number;
}

/** Relative. */
export const TOLERANCE = { nllSum: 1e-4, perplexity: 1e-5, uncertainty: 1e-4 } as const;

/** `most`: windows of each run that are compared. */
export const compareRuns = async (
  folder: ScoringFolder,
  name: string,
  file: ExpectedFile & { readonly runs: readonly ExpectedRun[] },
  most: number,
  tally: Tally,
): Promise<void> => {
  tally.same(`${name} weights`, file.weights_sha256, folder.weightsHash(file.weights));
  const model = await folder.load(file.weights, file.tokenizer);
  try {
    for (const run of file.runs) {
      const { method, ctx, stride } = run;
      const chunks = run.windows.length > most ? { chunks: most } : {};
      const result = await model.perplexity({
        ...{ input: { file: folder.at(file.text) }, method, ctx, ...chunks },
        ...(stride === undefined ? {} : { stride }),
      });
      compareRun(`${name} ${method} ${ctx}`, run, result, tally);
    }
  } finally {
    await model.close();
  }
};

const compareRun = (id: string, run: ExpectedRun, result: PerplexityResult, tally: Tally): void => {
  const count = result.windows.length;
  tally.same(`${id} tokens`, run.tokens, result.tokens);
  tally.same(`${id} token_ids_sha256`, run.token_ids_sha256, result.tokenIdsSha256);
  run.windows.slice(0, count).forEach((expected, index) => {
    const window = result.windows[index]!;
    const of = `${id} window ${index}`;
    const place = [window.begin, window.end, window.firstTarget, window.scored].join(' ');
    tally.same(of, [expected.begin, expected.end, expected.first_target, expected.scored].join(' '), place);
    tally.relative(`${of} nll_sum`, expected.nll_sum, window.nllSum, TOLERANCE.nllSum);
  });
  if (count === run.windows.length) compareWhole(id, run, result, tally);
  else comparePart(id, run.windows[count - 1]!, result, tally);
};

const compareWhole = (id: string, run: ExpectedRun, result: PerplexityResult, tally: Tally): void => {
  tally.same(`${id} windows_scored`, run.windows_scored, result.windows.length);
  tally.same(`${id} scored_tokens`, run.scored_tokens, result.scoredTokens);
  tally.same(`${id} prefill_tokens`, run.prefill_tokens, result.prefillTokens);
  tally.relative(`${id} mean_nll`, run.mean_nll, result.meanNll, TOLERANCE.perplexity);
  tally.relative(`${id} perplexity`, run.perplexity, result.perplexity, TOLERANCE.perplexity);
  const { perplexity_uncertainty: uncertainty, mean_nll_uncertainty: ofMean } = run;
  tally.relative(`${id} perplexity_uncertainty`, uncertainty, result.perplexityUncertainty, TOLERANCE.uncertainty);
  tally.relative(`${id} mean_nll_uncertainty`, ofMean, result.meanNllUncertainty, TOLERANCE.uncertainty);
};

/** The running figures are those of a run that ends there. */
const comparePart = (id: string, last: ExpectedWindow, result: PerplexityResult, tally: Tally): void => {
  if (last.running_mean_nll === undefined || last.running_mean_nll_uncertainty === undefined) return;
  tally.relative(`${id} running mean`, last.running_mean_nll, result.meanNll, TOLERANCE.perplexity);
  const uncertainty = last.running_mean_nll_uncertainty;
  tally.relative(`${id} running ±`, uncertainty, result.meanNllUncertainty, TOLERANCE.uncertainty);
};
