/** Sums of a figure over tokens. They are added in the order of the tokens, so that a resumed run gives the same bits. */
export interface Sums {
  readonly sum: number;
  readonly squares: number;
}

export const NO_SUMS: Sums = { sum: 0, squares: 0 };

export const addSums = (a: Sums, b: Sums): Sums => ({ sum: a.sum + b.sum, squares: a.squares + b.squares });

export const sumsOf = (values: Iterable<number>): Sums => {
  let sum = 0;
  let squares = 0;
  for (const value of values) {
    sum += value;
    squares += value * value;
  }
  return { sum, squares };
};

/** null: not defined. */
export interface Mean {
  readonly mean: number | null;
  /** Standard error of the mean: √((Σx² / n - mean²) / (n - 1)). */
  readonly uncertainty: number | null;
}

/** What rounding makes of a variance of zero may be a little below it: it counts as zero. */
export const meanOf = ({ sum, squares }: Sums, count: number): Mean => {
  if (count === 0) return { mean: null, uncertainty: null };
  const mean = sum / count;
  const variance = Math.max(0, squares / count - mean * mean);
  return { mean: defined(mean), uncertainty: count < 2 ? null : defined(Math.sqrt(variance / (count - 1))) };
};

/** PPL = e^mean and its uncertainty, PPL times that of the mean. */
export const perplexityOf = ({ mean, uncertainty }: Mean): Mean => {
  const perplexity = mean === null ? null : defined(Math.exp(mean));
  return { mean: perplexity, uncertainty: both(perplexity, uncertainty, (ppl, error) => ppl * error) };
};

/** NaN and infinities are no figures: null. */
export const defined = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** Of two figures, where both are defined. */
export const both = (a: number | null, b: number | null, compute: (a: number, b: number) => number): number | null =>
  a === null || b === null ? null : defined(compute(a, b));
