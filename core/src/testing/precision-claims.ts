import assert from 'node:assert/strict';
import { createNativeOps } from '../kernels/native/index.js';
import type { Ops } from '../kernels/ops.js';
import type { Precision } from '../kernels/tensor.js';
import { compareLogits, describeComparison, standardDeviation } from './compare.js';
import type { FamilyCase } from './family-case.js';
import { prefillWhole } from './verify.js';

/** How far native arithmetic may be from the reference, in standard deviations of the logits. */
const NATIVE = 1e-4;

/**
 * Root mean square of what a precision may change in the logits, in standard deviations of theirs. Weights drawn at
 * random feel quantisation more than trained ones, most of all where a router then takes another expert; of unrelated
 * logits it would be 1.4.
 */
const NEAR: Readonly<Partial<Record<Precision, number>>> = { bf16: 0.1, q8: 0.5, q4: 1.2 };

/** Threads of the native arithmetic: enough to see work divided. */
const THREADS = 2;

/** The native arithmetic with an f32 cache; null where it was not built. */
const nativeOps = (): Ops | null =>
  createNativeOps({ threads: THREADS, kvCacheDtype: 'f32', kernels: null, dequantise: false });

/** Whether this machine has native arithmetic: it alone holds q8 and q4. */
export const hasNativeOps = (): boolean => {
  const ops = nativeOps();
  ops?.dispose();
  return ops !== null;
};

const nativeLogits = async ({ reopen, prompts }: FamilyCase, quant?: Precision): Promise<Float32Array> => {
  const model = reopen({ ops: nativeOps()!, ...(quant === undefined ? {} : { quant }) });
  try {
    return await prefillWhole(model, prompts.inputIds);
  } finally {
    await model.close();
  }
};

/** Steps as well as a prompt: they take other kernels. */
export const checkNative = async (opened: FamilyCase): Promise<void> => {
  const { whole, model, reopen, steady } = opened;
  const { vocabSize } = model.facts.plan;
  requireNear('native arithmetic, whole', await nativeLogits(opened), whole, vocabSize);

  const native = reopen({ ops: nativeOps()! });
  try {
    const session = await native.session();
    const half = Math.floor(steady.ids.length / 2);
    await session.prefill(steady.ids.slice(0, half), { logits: 'none' });
    for (let at = half; at < steady.ids.length; at++) {
      const row = await session.prefill([steady.ids[at]!], { logits: 'last' });
      const expected = steady.logits.subarray(at * vocabSize, (at + 1) * vocabSize);
      requireNear(`native arithmetic, step ${at}`, row, expected, vocabSize, standardDeviation(steady.logits));
    }
    await session.close();
  } finally {
    await native.close();
  }
};

const requireNear = (
  what: string,
  actual: Float32Array,
  expected: Float32Array,
  vocabSize: number,
  deviation = standardDeviation(expected),
): void => {
  const comparison = compareLogits(actual, expected, vocabSize);
  const allowed = NATIVE * deviation;
  const message = `${what}: ${describeComparison(comparison)}; allowed ${allowed.toExponential(2)}`;
  assert.ok(comparison.maxAbsDiff <= allowed, message);
};

export const checkPrecisions = async (opened: FamilyCase): Promise<void> => {
  const deviation = standardDeviation(opened.whole);
  for (const [precision, allowed] of Object.entries(NEAR) as [Precision, number][]) {
    const logits = await nativeLogits(opened, precision);
    const distance = rootMeanSquare(logits, opened.whole) / deviation;
    const message = `${precision}: logits differ by ${distance.toFixed(3)} of their standard deviation, allowed ${allowed}`;
    assert.ok(distance <= allowed, message); // a NaN is not
  }
};

const rootMeanSquare = (a: Float32Array, b: Float32Array): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i]! - b[i]!) ** 2;
  return Math.sqrt(sum / a.length);
};
