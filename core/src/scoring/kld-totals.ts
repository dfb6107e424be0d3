import { addSums, both, defined, meanOf, NO_SUMS, perplexityOf, type Mean, type Sums } from './mean.js';
import { percentile } from './percentile.js';
import type { KldFigure } from './kld-figures.js';

/** What a comparison adds up over the tokens of a window, and the two figures whose percentiles are asked for. */
export interface KldSums {
  readonly nll: Sums;
  readonly baseNll: Sums;
  /** Σ nll · base nll. */
  readonly products: number;
  /** Of nll - base nll. */
  readonly logRatio: Sums;
  readonly kld: Sums;
  readonly deltaP: Sums;
  /** Of Δp². */
  readonly deltaPSquare: Sums;
  readonly sameTop: number;
  /** null: the base holds the whole vocabulary. */
  readonly topMass: number | null;
}

export interface KldTokens {
  readonly sums: KldSums;
  readonly klds: readonly number[];
  readonly deltaPs: readonly number[];
}

/** One scored token. */
export interface KldToken {
  readonly nll: number;
  readonly baseNll: number;
  readonly kld: number;
  readonly sameTop: boolean;
  readonly topMass: number | null;
}

const NOTHING: KldSums = {
  nll: NO_SUMS,
  baseNll: NO_SUMS,
  products: 0,
  logRatio: NO_SUMS,
  kld: NO_SUMS,
  deltaP: NO_SUMS,
  deltaPSquare: NO_SUMS,
  sameTop: 0,
  topMass: null,
};

const addAll = (a: KldSums, b: KldSums): KldSums => ({
  nll: addSums(a.nll, b.nll),
  baseNll: addSums(a.baseNll, b.baseNll),
  products: a.products + b.products,
  logRatio: addSums(a.logRatio, b.logRatio),
  kld: addSums(a.kld, b.kld),
  deltaP: addSums(a.deltaP, b.deltaP),
  deltaPSquare: addSums(a.deltaPSquare, b.deltaPSquare),
  sameTop: a.sameTop + b.sameTop,
  topMass: b.topMass === null ? a.topMass : (a.topMass ?? 0) + b.topMass,
});

const one = (value: number): Sums => ({ sum: value, squares: value * value });

/** Sums of a window. Δp is the probability of the token that came: compared minus base. */
export const sumTokens = (tokens: readonly KldToken[]): KldTokens => {
  const deltaPs = tokens.map(({ nll, baseNll }) => Math.exp(-nll) - Math.exp(-baseNll));
  const sums = tokens.reduce<KldSums>(
    (total, { nll, baseNll, kld, sameTop, topMass }, index) =>
      addAll(total, {
        nll: one(nll),
        baseNll: one(baseNll),
        products: nll * baseNll,
        logRatio: one(nll - baseNll),
        kld: one(kld),
        deltaP: one(deltaPs[index]!),
        deltaPSquare: one(deltaPs[index]! ** 2),
        sameTop: sameTop ? 1 : 0,
        topMass,
      }),
    NOTHING,
  );
  return { sums, klds: tokens.map(({ kld }) => kld), deltaPs };
};

/** A comparison over the windows so far. Holds two numbers a token, for the percentiles. */
export class KldTotals {
  #sums = NOTHING;
  #count = 0;
  readonly #klds: Float64Array;
  readonly #deltaPs: Float64Array;

  constructor(tokens: number) {
    this.#klds = new Float64Array(tokens);
    this.#deltaPs = new Float64Array(tokens);
  }

  add({ sums, klds, deltaPs }: KldTokens): void {
    this.#sums = addAll(this.#sums, sums);
    this.#klds.set(klds, this.#count);
    this.#deltaPs.set(deltaPs, this.#count);
    this.#count += klds.length;
  }

  get meanKld(): number | null {
    return meanOf(this.#sums.kld, this.#count).mean;
  }

  figures(): Record<KldFigure, number | null> {
    const n = this.#count;
    const sums = this.#sums;
    const nll = meanOf(sums.nll, n);
    const baseNll = meanOf(sums.baseNll, n);
    const ppl = perplexityOf(nll);
    const basePpl = perplexityOf(baseNll);
    const covariance = covarianceOf(sums.products, nll, baseNll, n);
    const logRatio = meanOf(sums.logRatio, n);
    const ratio = perplexityOf(logRatio);
    const kld = meanOf(sums.kld, n);
    const deltaP = meanOf(sums.deltaP, n);
    const { rms, uncertainty: rmsUncertainty } = rootOf(meanOf(sums.deltaPSquare, n));
    const sameTop = n === 0 ? null : sums.sameTop / n;
    const klds = this.#klds.slice(0, n).sort();
    const deltaPs = this.#deltaPs.slice(0, n).sort();
    return {
      meanNll: nll.mean,
      meanNllUncertainty: nll.uncertainty,
      baseMeanNll: baseNll.mean,
      baseMeanNllUncertainty: baseNll.uncertainty,
      perplexity: ppl.mean,
      perplexityUncertainty: ppl.uncertainty,
      basePerplexity: basePpl.mean,
      basePerplexityUncertainty: basePpl.uncertainty,
      deltaPerplexity: both(ppl.mean, basePpl.mean, (q, p) => q - p),
      deltaPerplexityUncertainty: differenceError(ppl, basePpl, covariance),
      perplexityRatio: ratio.mean,
      perplexityRatioUncertainty: ratio.uncertainty,
      meanLogRatio: logRatio.mean,
      meanLogRatioUncertainty: logRatio.uncertainty,
      correlation: correlationOf(covariance, nll, baseNll),
      meanKld: kld.mean,
      meanKldUncertainty: kld.uncertainty,
      kldMax: extreme(klds, n - 1),
      ...percentiles(klds, {
        kldP99_9: 0.999,
        kldP99: 0.99,
        kldP95: 0.95,
        kldP90: 0.9,
        kldMedian: 0.5,
        kldP10: 0.1,
        kldP5: 0.05,
        kldP1: 0.01,
        kldP0_1: 0.001,
      }),
      kldMin: extreme(klds, 0),
      meanDeltaP: deltaP.mean,
      meanDeltaPUncertainty: deltaP.uncertainty,
      deltaPMax: extreme(deltaPs, n - 1),
      ...percentiles(deltaPs, {
        deltaPP99_9: 0.999,
        deltaPP99: 0.99,
        deltaPP95: 0.95,
        deltaPP90: 0.9,
        deltaPP75: 0.75,
        deltaPMedian: 0.5,
        deltaPP25: 0.25,
        deltaPP10: 0.1,
        deltaPP5: 0.05,
        deltaPP1: 0.01,
        deltaPP0_1: 0.001,
      }),
      deltaPMin: extreme(deltaPs, 0),
      rmsDeltaP: rms,
      rmsDeltaPUncertainty: rmsUncertainty,
      sameTop,
      sameTopUncertainty: sameTop === null || n < 2 ? null : Math.sqrt((sameTop * (1 - sameTop)) / (n - 1)),
      meanBaseTopMass: sums.topMass === null || n === 0 ? null : sums.topMass / n,
    };
  }
}

const extreme = (sorted: Float64Array, index: number): number | null => defined(sorted[index] ?? NaN);

const percentiles = <K extends KldFigure>(
  sorted: Float64Array,
  fractions: Record<K, number>,
): Record<K, number | null> =>
  Object.fromEntries(
    Object.entries<number>(fractions).map(([figure, f]) => [figure, defined(percentile(sorted, f) ?? NaN)]),
  ) as Record<K, number | null>;

/** Of the means: (Σab / n - mean_a mean_b) / (n - 1). */
const covarianceOf = (products: number, a: Mean, b: Mean, n: number): number | null =>
  n < 2 ? null : both(a.mean, b.mean, (x, y) => (products / n - x * y) / (n - 1));

/** cov / (±_a ±_b), which rounding may take a little beyond 1. */
const correlationOf = (covariance: number | null, a: Mean, b: Mean): number | null => {
  const errors = both(a.uncertainty, b.uncertainty, (x, y) => x * y);
  const ratio = both(covariance, errors, (cov, product) => cov / product);
  return ratio === null ? null : Math.max(-1, Math.min(1, ratio));
};

/** √(±_a² + ±_b² - 2 PPL_a PPL_b cov): a difference of nearly equal numbers, which rounding may take below 0. */
const differenceError = (a: Mean, b: Mean, covariance: number | null): number | null => {
  const squares = both(a.uncertainty, b.uncertainty, (x, y) => x * x + y * y);
  const shared = both(
    both(a.mean, b.mean, (x, y) => x * y),
    covariance,
    (product, cov) => 2 * product * cov,
  );
  return both(squares, shared, (x, y) => Math.sqrt(Math.max(0, x - y)));
};

/** Root of a mean of squares; ± = 0.5 / RMS · (± of that mean). */
const rootOf = ({ mean, uncertainty }: Mean): { rms: number | null; uncertainty: number | null } => {
  const rms = mean === null ? null : Math.sqrt(mean);
  return { rms, uncertainty: both(rms, uncertainty, (root, error) => (0.5 / root) * error) };
};
