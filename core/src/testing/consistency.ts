import type { ModelPlan } from '@kvad/schemas';
import { isKvadError } from '../errors/kvad-error.js';
import type { ModelFacts, Session } from '../runtime/types.js';
import { compareLogits, concatenate, standardDeviation } from './compare.js';
import { promptIds } from './prompt-ids.js';

/** What is asked of a model that nobody has computed before: that it agrees with itself. */
export interface Consistency {
  /** Rows of the prompt. */
  readonly positions: number;
  /** All logits are numbers. */
  readonly finite: boolean;
  /** Largest difference of a logit, in standard deviations of theirs, when the prompt comes in chunks of 1 and 7. */
  readonly chunks: number;
  /** The same after the sequence went elsewhere and was cut back. */
  readonly truncation: number;
  /** The same between native and reference arithmetic; null: there is one only, or the model is too large for it. */
  readonly kernels: number | null;
  readonly pass: boolean;
}

export interface ConsistentModel {
  readonly facts: Pick<ModelFacts, 'plan' | 'kernels'>;
  session(): Promise<Pick<Session, 'prefill' | 'truncate' | 'close'>>;
  close(): Promise<void>;
}

/** Rows of the prompt, where the context and its angles allow them. */
const LENGTH = 48;

/** In standard deviations of the logits, as for native arithmetic in the kit. */
const SAME = 1e-4;

/** `openReference` loads the same checkpoint on the reference arithmetic. */
export const checkConsistency = async (
  model: ConsistentModel,
  openReference: () => Promise<ConsistentModel>,
): Promise<Consistency> => {
  const { plan, kernels: name } = model.facts;
  const ids = [...promptIds(plan.vocabSize, Math.min(LENGTH, plan.contextLength, steadyLength(plan)))];
  const whole = await inChunks(model, ids, ids.length);
  const finite = whole.every(Number.isFinite);
  const deviation = standardDeviation(whole);
  const distance = (logits: Float32Array): number =>
    compareLogits(logits, whole, plan.vocabSize).maxAbsDiff / (deviation || 1);

  const chunks = Math.max(distance(await inChunks(model, ids, 1)), distance(await inChunks(model, ids, 7)));
  const truncation = distance(await afterDetour(model, ids, plan));
  const reference = name === 'reference' ? null : await referenceLogits(openReference, ids);
  const kernels = reference && distance(reference);
  const pass = finite && [chunks, truncation, kernels ?? 0].every((found) => found <= SAME);
  return { positions: ids.length, finite, chunks, truncation, kernels, pass };
};

const inChunks = async (model: ConsistentModel, ids: readonly number[], chunk: number): Promise<Float32Array> => {
  const session = await model.session();
  try {
    return await session.prefill(ids, { logits: 'all', chunk });
  } finally {
    await session.close();
  }
};

/** Half of the prompt, other tokens, back to the half (or where a memory can go back to), and on. */
const afterDetour = async (
  model: ConsistentModel,
  ids: readonly number[],
  { vocabSize }: ModelPlan,
): Promise<Float32Array> => {
  const half = Math.floor(ids.length / 2);
  const session = await model.session();
  try {
    const before = await session.prefill(ids.slice(0, half), { logits: 'all' });
    await session.prefill(ids.slice(half).reverse(), { logits: 'none' });
    const landed = await session.truncate(half);
    const after = await session.prefill(ids.slice(landed), { logits: 'all' });
    return concatenate([before.subarray(0, landed * vocabSize), after]);
  } finally {
    await session.close();
  }
};

const referenceLogits = async (
  open: () => Promise<ConsistentModel>,
  ids: readonly number[],
): Promise<Float32Array | null> => {
  let model: ConsistentModel;
  try {
    model = await open();
  } catch (error) {
    if (isKvadError(error) && error.code === 'KVAD_E_REFERENCE_TOO_SLOW') return null;
    throw error;
  }
  try {
    return await inChunks(model, ids, ids.length);
  } finally {
    await model.close();
  }
};

/**
 * Tokens up to which the angles of a position do not depend on how long the sequence has become. Beyond it a sequence
 * that grew step by step holds keys turned by older angles than one computed whole, in the published models too.
 */
export const steadyLength = ({ ropeTables }: ModelPlan): number =>
  Math.min(
    ...Object.values(ropeTables).map((table) =>
      table.type === 'dynamic' || table.type === 'longrope' ? table.originalContext : Infinity,
    ),
  );
