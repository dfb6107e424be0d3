import path from 'node:path';
import type { BoundWeights, Checkpoint } from '../checkpoint/checkpoint.js';
import { identityOf, quantCacheFolder, quantCacheName } from '../checkpoint/quant-cache/identity.js';
import { openQuantCache, type QuantCache } from '../checkpoint/quant-cache/open-quant-cache.js';
import { QuantCacheWriter } from '../checkpoint/quant-cache/write-quant-cache.js';
import type { Ops } from '../kernels/ops.js';
import type { Precision, WeightData } from '../kernels/tensor.js';
import type { PlannedSlot } from '../plan/planned-slot.js';

/** Where quantised matrices come from: the cache of the model, or the ops, which then fill the cache. */
export interface QuantisedWeights {
  /** Taking a matrix is work: it is quantised. */
  readonly works: boolean;
  /** The matrix of `key` in the layout of the kernels; `read` gives it as stored. */
  take(key: string, precision: 'q8' | 'q4', read: () => WeightData): WeightData;
  /** All matrices have been taken. Returns what a user should know: a cache made anew, or one that cannot be written. */
  finish(): readonly string[];
  /** The load has failed: no file is left. */
  abandon(): void;
}

export interface QuantisedPieces {
  readonly directory: string;
  readonly checkpoint: Checkpoint;
  readonly slots: readonly PlannedSlot[];
  readonly weights: BoundWeights;
  readonly ops: Ops;
  readonly quant: Precision | null;
}

/** `KVAD_NO_QUANT_CACHE=1` neither reads nor writes one. */
export const openQuantisedWeights = (
  pieces: QuantisedPieces,
  env: NodeJS.ProcessEnv = process.env,
): QuantisedWeights => {
  const { directory, checkpoint, slots, weights, ops, quant } = pieces;
  if ((quant !== 'q8' && quant !== 'q4') || ops.quantLayout === null || env['KVAD_NO_QUANT_CACHE'] === '1') {
    return {
      works: quant === 'q8' || quant === 'q4',
      take: (_, precision, read) => ops.pack(read(), precision),
      finish: () => [],
      abandon: () => undefined,
    };
  }
  const file = path.join(quantCacheFolder(env), quantCacheName(directory, quant));
  const identity = identityOf(checkpoint, slots, weights, { precision: quant, layout: ops.quantLayout });
  const { cache, stale } = openQuantCache(file, identity);
  return cache === null
    ? filling(new QuantCacheWriter(file, identity, path.resolve(directory)), file, stale, ops)
    : reading(cache, ops);
};

const reading = (cache: QuantCache, ops: Ops): QuantisedWeights => ({
  works: false,
  take: (key, precision, read) => cache.find(`${precision} ${key}`) ?? ops.pack(read(), precision),
  finish: () => {
    cache.close();
    return [];
  },
  abandon: () => {
    cache.close();
  },
});

const filling = (writer: QuantCacheWriter, file: string, stale: string | null, ops: Ops): QuantisedWeights => ({
  works: true,
  take: (key, precision, read) => {
    const packed = ops.pack(read(), precision);
    writer.add(`${precision} ${key}`, packed);
    return packed;
  },
  finish: () => {
    writer.finish();
    if (writer.failure !== null) return [`the quantised weights could not be kept in ${file}: ${writer.failure}`];
    return stale === null ? [] : [`the quantised weights in ${file} were made anew: ${stale}`];
  },
  abandon: () => {
    writer.abandon();
  },
});
