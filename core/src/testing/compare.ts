/** How two sets of logits differ, over every position. */
export interface Comparison {
  /** Rows compared. */
  readonly positions: number;
  /** Largest |actual - expected|; Infinity where either holds a value that is not finite. */
  readonly maxAbsDiff: number;
  /** Where that is: the first such value that is not finite, else the first largest difference. */
  readonly worst: {
    readonly position: number;
    readonly token: number;
    readonly actual: number;
    readonly expected: number;
  };
  /** Share of the positions whose largest logit is the same token (ties: the lowest id). 0 to 1. */
  readonly argmaxAgreement: number;
}

/**
 * Compares `[positions, vocabSize]` row-major logits with what they should be.
 * A NaN is never equal to anything and never lost: it makes `maxAbsDiff` infinite.
 * Throws a RangeError where the sizes do not fit: fewer logits are not a smaller difference.
 */
export const compareLogits = (actual: Float32Array, expected: Float32Array, vocabSize: number): Comparison => {
  if (actual.length !== expected.length || actual.length === 0 || actual.length % vocabSize !== 0) {
    throw new RangeError(
      `logits of ${actual.length} and ${expected.length} values are not rows of ${vocabSize} of the same number`,
    );
  }
  const positions = actual.length / vocabSize;
  let maxAbsDiff = -1;
  let worst = 0;
  let agreed = 0;
  for (let position = 0; position < positions; position++) {
    const start = position * vocabSize;
    const row = actual.subarray(start, start + vocabSize);
    const wanted = expected.subarray(start, start + vocabSize);
    if (argmax(row) === argmax(wanted)) agreed++;
    for (let token = 0; token < vocabSize; token++) {
      const difference = distance(row[token]!, wanted[token]!);
      if (difference > maxAbsDiff) {
        maxAbsDiff = difference;
        worst = start + token;
      }
    }
  }
  return {
    positions,
    maxAbsDiff,
    worst: {
      position: Math.floor(worst / vocabSize),
      token: worst % vocabSize,
      actual: actual[worst]!,
      expected: expected[worst]!,
    },
    argmaxAgreement: agreed / positions,
  };
};

/** Index of the largest value, the lowest on a tie; -1 where a NaN makes the question meaningless. */
export const argmax = (values: Float32Array): number => {
  let best = 0;
  for (let index = 0; index < values.length; index++) {
    if (Number.isNaN(values[index])) return -1;
    if (values[index]! > values[best]!) best = index;
  }
  return best;
};

/** Rows of several calls, in order. */
export const concatenate = (parts: readonly Float32Array[]): Float32Array => {
  const whole = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let start = 0;
  for (const part of parts) {
    whole.set(part, start);
    start += part.length;
  }
  return whole;
};

/** Population standard deviation in double precision: the unit that tolerances are given in. */
export const standardDeviation = (values: Float32Array): number => {
  let sum = 0;
  for (const value of values) sum += value;
  const mean = sum / values.length;
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return Math.sqrt(squares / values.length);
};

/** One line that says what a person would ask next. */
export const describeComparison = ({ positions, maxAbsDiff, worst, argmaxAgreement }: Comparison): string =>
  `max |difference| ${maxAbsDiff.toExponential(2)} at position ${worst.position} of ${positions}, token ${worst.token}: ` +
  `${worst.actual} instead of ${worst.expected}; best token equal at ${(100 * argmaxAgreement).toFixed(1)} % of positions`;

const distance = (a: number, b: number): number =>
  Number.isFinite(a) && Number.isFinite(b) ? Math.abs(a - b) : Infinity;
