import { readFileSync } from 'node:fs';
import path from 'node:path';
import { KLD_FIGURES, type KldResult, type LoadedModel, type PerplexityRequest } from '@kvad/core';
import { snakeCase } from '../commands/perplexity-report.js';
import type { Tally } from './report.js';
import type { ExpectedFile, ScoringFolder } from './scoring-folder.js';

/** `expected-kld.json`. */
export interface ExpectedKld extends ExpectedFile {
  readonly degraded: string;
  readonly degraded_sha256?: string;
  readonly ctx: number;
  readonly chunks: number;
  readonly base_file: string;
  readonly from_base_file: Readonly<Record<string, number>>;
  readonly self_from_base_file: Readonly<Record<string, number>>;
}

/** `expected-kld-topk.json`. */
export interface ExpectedTopk extends ExpectedFile {
  readonly degraded: string;
  readonly ctx: number;
  readonly chunks: number;
  readonly full_mean_kld: number;
  /** By k: rows whose set of ids is a matter of rounding, and how far a swap may move one. */
  readonly near_ties_at_the_cut?: Readonly<Record<string, { readonly rows: number; readonly largest_change: number }>>;
  readonly runs: readonly {
    readonly k: number;
    readonly mean_kld: number;
    readonly mean_kld_uncertainty: number;
    readonly kld_p99: number;
    readonly kld_max: number;
    readonly mean_base_top_mass: number;
  }[];
}

/** Absolute. Noise of float32 is 1e-5 in a percentile (README of the fixtures). */
const TOLERANCE = { mean: 1e-6, coarseMean: 1e-5, percentile: 1e-4, self: 1e-9 } as const;

/** Relative: figures that have no scale of their own. Their ± is 1e-4 like that of a run. */
const RELATIVE: Readonly<Record<string, number>> = {
  mean_nll: 1e-5,
  base_mean_nll: 1e-5,
  perplexity: 1e-5,
  base_perplexity: 1e-5,
  perplexity_ratio: 1e-5,
  mean_nll_uncertainty: 1e-4,
  base_mean_nll_uncertainty: 1e-4,
  perplexity_uncertainty: 1e-4,
  base_perplexity_uncertainty: 1e-4,
};

/** Relative to the perplexity: differences of two perplexities. */
const OF_PERPLEXITY = ['delta_perplexity', 'delta_perplexity_uncertainty'];

/** llama.cpp's base: read against both models, and written. */
export const compareKld = async (
  folder: ScoringFolder,
  name: string,
  file: ExpectedKld,
  tally: Tally,
): Promise<void> => {
  if (file.degraded_sha256 !== undefined) {
    tally.same(`${name} degraded weights`, file.degraded_sha256, folder.weightsHash(file.degraded));
  }
  const request = requestOf(folder, file);
  const kld = folder.at(file.base_file);
  for (const [weights, expected] of [
    [file.degraded, file.from_base_file],
    [file.weights, file.self_from_base_file],
  ] as const) {
    await using(folder, file, weights, async (model) => {
      compareFigures(`${name} ${weights}`, expected, (await model.perplexity({ ...request, kld })).kld!, tally);
    });
  }
  const written = path.join(folder.scratch, 'full.kld');
  await using(folder, file, file.weights, (model) =>
    model.perplexity({ ...request, kldBaseOut: { file: written, format: 'full' } }),
  );
  compareFiles(`${name} written`, readFileSync(kld), readFileSync(written), tally);
};

/** Figures of one token's precision are compared like percentiles, means more closely. */
const compareFigures = (id: string, expected: Readonly<Record<string, number>>, kld: KldResult, tally: Tally): void => {
  tally.same(`${id} tokens`, expected['tokens'], kld.tokens);
  for (const figure of KLD_FIGURES) {
    const key = snakeCase(figure);
    const value = expected[key];
    if (value === undefined) continue;
    const relative = RELATIVE[key];
    if (relative === undefined) tally.absolute(`${id} ${key}`, value, kld[figure], toleranceOf(key, expected));
    else tally.relative(`${id} ${key}`, value, kld[figure], relative);
  }
};

const toleranceOf = (key: string, { perplexity = 1 }: Readonly<Record<string, number>>): number => {
  if (OF_PERPLEXITY.includes(key)) return 1e-5 * perplexity;
  return key === 'mean_kld' ? TOLERANCE.mean : TOLERANCE.percentile;
};

/** Header and ids byte for byte; the 16-bit values equal in 99 of 100, and never more than 1 apart. */
const compareFiles = (id: string, expected: Buffer, written: Buffer, tally: Tally): void => {
  tally.same(`${id} bytes`, expected.length, written.length);
  const [ctx, vocabSize, chunks] = [8, 12, 16].map((at) => expected.readInt32LE(at)) as [number, number, number];
  const start = 20 + 4 * ctx * chunks;
  tally.same(`${id} header and ids`, true, expected.subarray(0, start).equals(written.subarray(0, start)));
  const rowBytes = 8 + 2 * (vocabSize + (vocabSize % 2));
  let same = 0;
  let total = 0;
  let apart = 0;
  for (let row = start; row < Math.min(expected.length, written.length); row += rowBytes) {
    for (let id = 0; id < vocabSize; id++, total++) {
      const difference = Math.abs(expected.readUInt16LE(row + 8 + 2 * id) - written.readUInt16LE(row + 8 + 2 * id));
      if (difference === 0) same++;
      apart = Math.max(apart, difference);
    }
  }
  tally.same(`${id} 99 of 100 values equal`, true, same >= 0.99 * total);
  tally.same(`${id} values at most 1 apart`, true, apart <= 1);
};

/** kvad's own base: a model against itself, and the coarsened divergence of the degraded one. */
export const compareTopk = async (
  folder: ScoringFolder,
  name: string,
  file: ExpectedTopk,
  tally: Tally,
): Promise<void> => {
  const request = requestOf(folder, file);
  const baseOf = (k: number): string => path.join(folder.scratch, `top-${k}.kld`);
  await using(folder, file, file.weights, async (model) => {
    for (const { k } of file.runs) {
      await model.perplexity({ ...request, kldBaseOut: { file: baseOf(k), topK: k } });
      const { kld } = await model.perplexity({ ...request, kld: baseOf(k) });
      tally.absolute(`${name} ${k} itself`, 0, kld!.meanKld, TOLERANCE.self);
      tally.same(`${name} ${k} itself same_top`, 1, kld!.sameTop);
    }
  });
  await using(folder, file, file.degraded, async (model) => {
    for (const { k, ...expected } of file.runs) {
      const kld = (await model.perplexity({ ...request, kld: baseOf(k) })).kld!;
      const id = `${name} ${k}`;
      tally.absolute(`${id} mean_kld`, expected.mean_kld, kld.meanKld, TOLERANCE.coarseMean);
      const { mean_kld_uncertainty: uncertainty, mean_base_top_mass: mass } = expected;
      tally.absolute(`${id} mean_kld_uncertainty`, uncertainty, kld.meanKldUncertainty, TOLERANCE.coarseMean);
      const near = nearTies(file, k);
      tally.absolute(`${id} kld_p99${near}`, expected.kld_p99, kld.kldP99, TOLERANCE.percentile);
      tally.absolute(`${id} kld_max${near}`, expected.kld_max, kld.kldMax, TOLERANCE.percentile);
      tally.absolute(`${id} mean_base_top_mass`, mass, kld.meanBaseTopMass, TOLERANCE.coarseMean);
      tally.same(`${id} no more than the full divergence`, true, kld.meanKld! <= file.full_mean_kld);
    }
  });
};

/** Words for a figure of one row: where the cut falls between near-equals the set of ids is a matter of rounding. */
const nearTies = ({ near_ties_at_the_cut: ties }: ExpectedTopk, k: number): string => {
  const { rows = 0, largest_change: change = 0 } = ties?.[String(k)] ?? {};
  return rows === 0 ? '' : ` (${rows} rows near a tie at the cut, which a swap moves by ${change.toFixed(5)} at most)`;
};

const requestOf = (
  folder: ScoringFolder,
  { text, ctx, chunks }: { readonly text: string; readonly ctx: number; readonly chunks: number },
): PerplexityRequest => ({ input: { file: folder.at(text) }, ctx, chunks });

const using = async (
  folder: ScoringFolder,
  { tokenizer }: ExpectedFile,
  weights: string,
  use: (model: LoadedModel) => Promise<unknown>,
): Promise<void> => {
  const model = await folder.load(weights, tokenizer);
  try {
    await use(model);
  } finally {
    await model.close();
  }
};
