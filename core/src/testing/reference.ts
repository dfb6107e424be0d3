import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KvadError } from '../errors/kvad-error.js';
import { readTensors } from './safetensors-read.js';
import type { TensorBytes } from './safetensors-write.js';

/** What another implementation computed for a checkpoint: `reference.safetensors` and `reference.json`. */
export interface Reference {
  readonly inputIds: Int32Array;
  /** `[inputIds.length, vocabSize]`, one forward without a cache. */
  readonly logits: Float32Array;
  readonly shortIds: Int32Array;
  /** `[shortIds.length, vocabSize]`, one forward without a cache. */
  readonly shortLogits: Float32Array;
  /** Greedy continuation of `shortIds`; end-of-sequence ids do not stop it. */
  readonly greedyIds: Int32Array;
  readonly vocabSize: number;
  readonly facts: ReferenceFacts;
}

export interface ReferenceFacts {
  readonly case?: string;
  readonly model_type: string;
  readonly model_class?: string;
  readonly made_by?: string;
  readonly stored_dtype?: string;
  readonly logits_std: number;
  /** Smallest gap between the two best logits on the greedy path. */
  readonly greedy_min_margin?: number;
  /** Largest absolute difference of a logit allowed in float32. */
  readonly tolerance: number;
}

/** Whether a checkpoint folder holds what another implementation computed, or a part of it. */
export const hasReference = (directory: string): boolean =>
  ['reference.safetensors', 'reference.json'].some((name) => existsSync(join(directory, name)));

/** Reads the reference of a checkpoint folder. Throws KVAD_E_FIXTURE and KVAD_E_SAFETENSORS_*. */
export const readReference = (directory: string): Reference => {
  for (const name of ['reference.safetensors', 'reference.json']) {
    if (existsSync(join(directory, name))) continue;
    throw new KvadError('KVAD_E_FIXTURE', { name: directory, reason: `it has no ${name} to compare with` });
  }
  const file = join(directory, 'reference.safetensors');
  const refuse = (reason: string): never => {
    throw new KvadError('KVAD_E_FIXTURE', { name: file, reason });
  };
  const tensors = readTensors(file);
  const tensor = (name: string, dtype: string, rank: number): TensorBytes => {
    const found = tensors.get(name) ?? refuse(`it has no tensor "${name}"`);
    if (found.dtype === dtype && found.shape.length === rank) return found;
    return refuse(`tensor "${name}" is ${found.dtype} [${found.shape.join(', ')}]`);
  };
  const ids = (name: string): Int32Array =>
    Int32Array.from(new BigInt64Array(tensor(name, 'I64', 1).bytes.slice().buffer), Number);
  const logits = (name: string): Float32Array => new Float32Array(tensor(name, 'F32', 2).bytes.slice().buffer);

  const facts = JSON.parse(readFileSync(join(directory, 'reference.json'), 'utf8')) as ReferenceFacts;
  const reference = {
    inputIds: ids('input_ids'),
    logits: logits('logits'),
    shortIds: ids('short_ids'),
    shortLogits: logits('short_logits'),
    greedyIds: ids('greedy_ids'),
    vocabSize: tensor('logits', 'F32', 2).shape[1] ?? 0,
    facts,
  };
  if (typeof facts.tolerance !== 'number') refuse('reference.json has no "tolerance"');
  if (reference.logits.length !== reference.inputIds.length * reference.vocabSize) {
    refuse('"logits" does not have one row for each of "input_ids"');
  }
  if (reference.shortLogits.length !== reference.shortIds.length * reference.vocabSize) {
    refuse('"short_logits" does not have one row for each of "short_ids"');
  }
  return reference;
};
