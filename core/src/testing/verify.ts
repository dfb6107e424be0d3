import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorCode } from '../errors/catalog.js';
import { isKvadError, KvadError } from '../errors/kvad-error.js';
import type { ModelFacts, Session } from '../runtime/types.js';
import { argmax, compareLogits, concatenate, type Comparison } from './compare.js';
import { checkConsistency, type Consistency, type ConsistentModel } from './consistency.js';
import { hasReference, readReference, type Reference } from './reference.js';

/** What is needed of a model to hold it against a reference: a loaded model of the library, or one in this process. */
export interface VerifiableModel {
  readonly facts: Pick<ModelFacts, 'plan'>;
  session(): Promise<Pick<Session, 'prefill' | 'close'>>;
  close(): Promise<void>;
}

/** Loads a checkpoint in f32 with an f32 cache; with `reference` on the reference arithmetic. */
export type LoadToVerify = (directory: string, options: { readonly reference: boolean }) => Promise<ConsistentModel>;

/** A checkpoint folder held against its `reference.safetensors`, or without one against itself. What was not reached is null. */
export interface Verification {
  readonly directory: string;
  readonly family: string | null;
  readonly modelType: string | null;
  /** Rows compared: all of both prompts; 0 where it did not come to that. */
  readonly positions: number;
  /** Largest |difference| of a logit; Infinity where one is not finite. */
  readonly maxAbsDiff: number | null;
  /** Share of positions with the same best token, 0 to 1. */
  readonly argmaxAgreement: number | null;
  readonly greedyEqual: boolean | null;
  readonly tolerance: number | null;
  /** How far the model agrees with itself, where there is no reference to agree with. */
  readonly consistency: Consistency | null;
  readonly pass: boolean;
  readonly error: { readonly code: ErrorCode; readonly message: string } | null;
}

/**
 * Loads a checkpoint and compares it with its reference: both prompts, each whole in one prefill, at every position; then
 * the greedy continuation of the short one, token by token (an end of sequence does not stop it). A checkpoint without a
 * reference is compared with itself: in chunks, cut back, on the other arithmetic.
 * A refusal is part of the answer; only an error that is not a KvadError is thrown.
 */
export const verifyCheckpoint = async (directory: string, load: LoadToVerify): Promise<Verification> => {
  const nothing = {
    directory,
    family: null,
    modelType: modelTypeOf(directory),
    positions: 0,
    maxAbsDiff: null,
    argmaxAgreement: null,
    greedyEqual: null,
    tolerance: null,
    consistency: null,
    pass: false,
    error: null,
  };
  try {
    const reference = hasReference(directory) ? readReference(directory) : null;
    const model = await load(directory, { reference: false });
    try {
      const { family, modelType } = model.facts.plan;
      if (reference === null) {
        const consistency = await checkConsistency(model, () => load(directory, { reference: true }));
        const { positions, pass } = consistency;
        return { ...nothing, family, modelType, positions, consistency, pass };
      }
      const { comparison, greedyEqual } = await compareWithReference(model, reference, directory);
      const { tolerance } = reference.facts;
      const { positions, maxAbsDiff, argmaxAgreement } = comparison;
      const pass = maxAbsDiff <= tolerance && greedyEqual;
      return { ...nothing, family, modelType, positions, maxAbsDiff, argmaxAgreement, greedyEqual, tolerance, pass };
    } finally {
      await model.close();
    }
  } catch (error) {
    if (!isKvadError(error)) throw error;
    return { ...nothing, error: { code: error.code, message: error.message } };
  }
};

/** The comparison of both prompts as one, and whether the greedy ids are the same. */
export const compareWithReference = async (
  model: Pick<VerifiableModel, 'facts' | 'session'>,
  reference: Reference,
  directory: string,
): Promise<{ comparison: Comparison; greedyEqual: boolean }> => {
  const { vocabSize } = reference;
  if (vocabSize !== model.facts.plan.vocabSize) {
    const reason = `its logits have ${vocabSize} columns, the model has ${model.facts.plan.vocabSize}`;
    throw new KvadError('KVAD_E_FIXTURE', { name: join(directory, 'reference.safetensors'), reason });
  }
  const actual = [await prefillWhole(model, reference.inputIds), await prefillWhole(model, reference.shortIds)];
  const expected = [reference.logits, reference.shortLogits];
  const greedy = await continueGreedily(model, reference.shortIds, reference.greedyIds.length);
  return {
    comparison: compareLogits(concatenate(actual), concatenate(expected), vocabSize),
    greedyEqual: reference.greedyIds.every((id, index) => id === greedy[index]),
  };
};

/** Logits `[ids.length, vocab]` of one prefill call and one chunk, in a session of its own. */
export const prefillWhole = async (model: Pick<VerifiableModel, 'session'>, ids: Int32Array): Promise<Float32Array> => {
  const session = await model.session();
  try {
    return await session.prefill([...ids], { logits: 'all', chunk: ids.length });
  } finally {
    await session.close();
  }
};

/** `count` ids after a prompt, each the best token of the step before; ends with -1 where a logit is NaN. */
export const continueGreedily = async (
  model: Pick<VerifiableModel, 'session'>,
  prompt: Int32Array,
  count: number,
): Promise<number[]> => {
  const session = await model.session();
  try {
    const ids: number[] = [];
    let logits = await session.prefill([...prompt], { logits: 'last', chunk: prompt.length });
    while (ids.length < count) {
      const id = argmax(logits);
      ids.push(id);
      if (id < 0 || ids.length === count) break;
      logits = await session.prefill([id], { logits: 'last' });
    }
    return ids;
  } finally {
    await session.close();
  }
};

/** For a line about a folder that cannot be loaded; what is wrong with it, the load says. */
const modelTypeOf = (directory: string): string | null => {
  try {
    const { model_type: type } = JSON.parse(readFileSync(join(directory, 'config.json'), 'utf8')) as {
      model_type?: unknown;
    };
    return typeof type === 'string' ? type : null;
  } catch {
    return null; // no config.json, or not JSON: loading it reports that with its own code
  }
};
