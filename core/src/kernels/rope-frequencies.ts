import type { RopeTablePlan } from '@kvad/schemas';

/**
 * Inverse frequencies of rotary tables, one for each pair of columns. Published models were trained with float32
 * tables, so each step is rounded to float32 where theirs is.
 */
const f32 = Math.fround;

type Plan<T extends RopeTablePlan['type']> = Extract<RopeTablePlan, { type: T }>;

/** θ^(2i / dims), i = 0 … count - 1. */
const powers = (theta: number, dims: number, count = dims / 2): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => f32(f32(theta) ** f32((2 * i) / dims)));

/** θ^(-2i / dims). Source: arXiv:2104.09864. */
const plain = (theta: number, dims: number, count = dims / 2): Float32Array =>
  powers(theta, dims, count).map((power) => 1 / power);

/** θ^(-2i / dims) / factor: positions pressed together. Source: arXiv:2306.15595. */
const linear = ({ theta, dims, factor }: Plan<'linear'>): Float32Array =>
  plain(theta, dims).map((frequency) => frequency / f32(factor));

/** The first `rotated / 2` frequencies of a table over `dims`, the others 0; all divided by the factor. */
const proportional = ({ theta, dims, rotated, factor }: Plan<'proportional'>): Float32Array => {
  const frequencies = new Float32Array(dims / 2);
  frequencies.set(plain(theta, dims, rotated / 2).map((frequency) => frequency / f32(factor)));
  return frequencies;
};

/**
 * A base that grows with the length L, from the original context C on ("NTK-aware"):
 *   θ' = θ (factor max(L, C) / C - (factor - 1))^(dims / (dims - 2));     with a fixed α: θ' = θ α^(dims / (dims - 2))
 */
const dynamic = ({ theta, dims, factor, originalContext, alpha }: Plan<'dynamic'>, length: number): Float32Array => {
  const exponent = dims / (dims - 2);
  if (alpha !== null) return plain(theta * alpha ** exponent, dims);
  if (length <= originalContext) return plain(theta, dims);
  const scaled = f32(f32(f32(factor) * length) / originalContext);
  const stretch = f32(scaled - f32(factor - 1));
  return plain(f32(f32(theta) * f32(stretch ** f32(exponent))), dims);
};

/**
 * Low frequencies are divided by the factor, high ones stay, in between by a ramp over the pairs. The ramp's ends are
 * the pairs that turn `betaFast` and `betaSlow` times within the original context. Source: arXiv:2309.00071.
 */
const yarn = (plan: Plan<'yarn'>): Float32Array => {
  const { theta, dims, factor, originalContext, betaFast, betaSlow, truncate } = plan;
  const pairThatTurns = (times: number): number =>
    (dims * Math.log(originalContext / (times * 2 * Math.PI))) / (2 * Math.log(theta));
  const low = Math.max(truncate ? Math.floor(pairThatTurns(betaFast)) : pairThatTurns(betaFast), 0);
  const end = Math.min(truncate ? Math.ceil(pairThatTurns(betaSlow)) : pairThatTurns(betaSlow), dims - 1);
  const high = end === low ? end + 0.001 : end;
  return powers(theta, dims).map((power, i) => {
    const ramp = Math.min(Math.max(f32(f32(i - f32(low)) / f32(high - low)), 0), 1);
    const kept = f32(1 - ramp);
    const stretched = f32(1 / f32(f32(factor) * power));
    return f32(stretched * f32(1 - kept)) + f32(f32(1 / power) * kept);
  });
};

/**
 * By wavelength λ = 2π / f and original context C: λ < C / high: f; λ > C / low: f / factor; in between
 *   s = (C / λ - low) / (high - low),   (1 - s) f / factor + s f
 */
const llama3 = (plan: Plan<'llama3'>): Float32Array => {
  const { theta, dims, factor, originalContext, lowFreqFactor, highFreqFactor } = plan;
  return plain(theta, dims).map((frequency) => {
    const wavelength = f32((2 * Math.PI) / frequency);
    if (wavelength > f32(originalContext / lowFreqFactor)) return frequency / f32(factor);
    if (wavelength < f32(originalContext / highFreqFactor)) return frequency;
    const turns = f32(originalContext / wavelength);
    const smooth = f32(f32(turns - f32(lowFreqFactor)) / f32(highFreqFactor - lowFreqFactor));
    return f32(f32(f32(1 - smooth) * frequency) / f32(factor)) + f32(smooth * frequency);
  });
};

/** 1 / (factor_i θ^(2i / dims)) with a factor for each pair: the short ones up to the original context, else the long. */
const longrope = (plan: Plan<'longrope'>, length: number): Float32Array => {
  const factors = length > plan.originalContext ? plan.longFactor : plan.shortFactor;
  if (factors.length !== plan.dims / 2) {
    throw new Error(`longrope: ${factors.length} factors for ${plan.dims / 2} pairs of columns`);
  }
  return powers(plan.theta, plan.dims).map((power, i) => 1 / f32(f32(factors[i]!) * power));
};

/** Inverse frequencies `[dims / 2]` of a table, for a sequence of `length` tokens. */
export const inverseFrequencies = (plan: RopeTablePlan, length: number): Float32Array => {
  switch (plan.type) {
    case 'default':
      return plain(plan.theta, plan.dims);
    case 'linear':
      return linear(plan);
    case 'dynamic':
      return dynamic(plan, length);
    case 'yarn':
      return yarn(plan);
    case 'llama3':
      return llama3(plan);
    case 'longrope':
      return longrope(plan, length);
    case 'proportional':
      return proportional(plan);
  }
};

/** What cos and sin are multiplied with, for a sequence of `length` tokens. */
export const angleScale = (plan: RopeTablePlan, length: number): number => {
  if (plan.type === 'yarn') return plan.attentionFactor;
  if (plan.type === 'longrope') return length > plan.originalContext ? plan.longScale : plan.shortScale;
  return 1;
};
