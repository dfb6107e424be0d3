/**
 * The complementary error function in float64.
 *
 *   erf(x)  = 2/√π e^(-x²) Σ_{n≥0} 2ⁿ x^(2n+1) / (1·3·…·(2n+1))        all terms positive: no cancellation
 *   erfc(x) = e^(-x²)/√π · 1/(x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …))))    converges fast from x = 2 on
 *
 * Source: Abramowitz and Stegun, 7.1.6 and 7.1.14.
 */
const SERIES_BELOW = 2;
const FRACTION_TERMS = 100;

const series = (x: number): number => {
  const square = x * x;
  let term = x;
  let sum = x;
  for (let n = 1; term > sum * 1e-17; n++) {
    term *= (2 * square) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-square) * sum;
};

const fraction = (x: number): number => {
  let denominator = x;
  for (let n = FRACTION_TERMS; n >= 1; n--) denominator = x + n / 2 / denominator;
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * denominator);
};

/** 1 - erf(x), accurate also where erf(x) is nearly 1. */
export const erfc = (x: number): number => {
  if (x < 0) return 2 - erfc(-x);
  return x < SERIES_BELOW ? 1 - series(x) : fraction(x);
};
