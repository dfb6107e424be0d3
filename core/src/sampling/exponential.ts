/** 2^(1/64) steps: e^x = 2^whole · 2^(part / 64) · e^r. */
const STEPS = 64;
const STEP = Math.LN2 / STEPS;
const PER_UNIT = STEPS / Math.LN2;
const PARTS = Float64Array.from({ length: STEPS }, (_, part) => 2 ** (part / STEPS));
/** 2^-n; what is smaller is no normal number. */
const HALVES = Float64Array.from({ length: 1023 }, (_, n) => 2 ** -n);
/** Added and taken off again, it leaves the nearest integer of a number below 2^31: quicker than to round it. */
const ROUNDER = 1.5 * 2 ** 52;
/** Behind it e^x is below 1e-307. */
const LEAST = -707;

/**
 * e^x of x ≤ 0, as logits less their largest are: a third of the time of `Math.exp`, of which a vocabulary needs one a
 * token. Its relative error is at most (4 + 2 |x|) 2^-53: what is left of x behind its steps is exact to 2 |x| 2^-53, and the
 * series stops at r⁶ / 720 < 2^-54. In a sum beside e^0 that is nothing: 2 |x| e^x < 1. Gives 0 for x < -707.
 */
export const expOfNegative = (x: number): number => {
  if (x < LEAST) return 0;
  const steps = x * PER_UNIT + ROUNDER - ROUNDER;
  const r = x - steps * STEP;
  const series = 1 + r * (1 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r / 120))));
  const step = steps | 0;
  return series * PARTS[step & (STEPS - 1)]! * HALVES[-(step >> 6)]!;
};
