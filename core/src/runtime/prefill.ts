import { KvadError } from '../errors/kvad-error.js';
import type { Model } from './model.js';
import type { WantedLogits } from './pass.js';
import type { Scheduler } from './scheduler.js';
import type { Sequence } from './sequence.js';

export interface PrefillOptions {
  /** Rows of one forward. */
  readonly chunk: number;
  /** Of which of the new rows logits are given, chunk by chunk; a sink takes them, and nothing is given. */
  readonly logits: WantedLogits;
  /** Where the `last` logits are put, `[vocab]`; absent: in an array of their own. */
  readonly into?: Float32Array;
  /** Gives way to every other step. */
  readonly background?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** A length that the sequence should be able to go back to. */
  readonly checkpointAt?: number;
}

/**
 * Appends ids to a sequence in chunks and gives the logits of each chunk as it is done (`last`: of the last chunk
 * only). The angles of all chunks are those of the length at the end, so that the size of a chunk changes nothing.
 * Where what is cached cannot be continued to that length, all of the sequence is computed again.
 *
 * An abort is seen between chunks: its reason is thrown, and the sequence holds the chunks that were done.
 */
export async function* prefill(
  model: Model,
  scheduler: Scheduler,
  sequence: Sequence,
  ids: readonly number[],
  { chunk, logits, into, signal, checkpointAt = 0, background = false }: PrefillOptions,
): AsyncGenerator<Float32Array> {
  requireTokens(model, ids);
  const finalLength = sequence.length + ids.length;
  requireContext(model, finalLength);
  const again = sequence.continuesTo(finalLength) ? [] : [...sequence.ids];
  if (again.length > 0) sequence.reset();
  const all = [...again, ...ids];
  for (let done = 0; done < all.length;) {
    signal?.throwIfAborted();
    // A chunk never mixes recomputed rows and new ones: only the new ones have wanted logits.
    const border = done < again.length ? again.length : all.length;
    const end = Math.min(done + Math.min(chunk, sequence.rowsToCheckpoint(checkpointAt)), border);
    const wanted = end > again.length ? wantedOf(logits, done - again.length, end - again.length, ids.length) : 'none';
    const rows = all.slice(done, end);
    const given = await scheduler.run({ sequence, ids: rows, finalLength, logits: wanted, into, background });
    if (sequence.length === checkpointAt) sequence.checkpoint();
    done = end;
    if (given.length > 0) yield given;
  }
}

/** What a chunk `[start, end)` of the new rows is asked for. */
const wantedOf = (logits: WantedLogits, start: number, end: number, length: number): WantedLogits => {
  if (typeof logits === 'string') return logits === 'all' || end === length ? logits : 'none';
  const from = Math.max(logits.from, start);
  const to = Math.min(logits.to, end);
  if (from >= to) return 'none';
  return {
    from: from - start,
    to: to - start,
    take: (block, row) => {
      logits.take(block, start + row);
    },
  };
};

/** Throws KVAD_E_TOKEN_ID. */
export const requireTokens = (model: Model, ids: ArrayLike<number>): void => {
  const { vocabSize } = model.plan;
  for (let index = 0; index < ids.length; index++) {
    const id = ids[index]!;
    if (!Number.isInteger(id) || id < 0 || id >= vocabSize) throw new KvadError('KVAD_E_TOKEN_ID', { id, vocabSize });
  }
};

/** Throws KVAD_E_CONTEXT. */
export const requireContext = (model: Model, tokens: number): void => {
  if (tokens > model.contextLength) {
    throw new KvadError('KVAD_E_CONTEXT', { tokens, contextLength: model.contextLength });
  }
};
