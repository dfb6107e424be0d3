import { KvadError } from '../errors/kvad-error.js';
import type { Precision } from '../kernels/tensor.js';
import { MOST_THREADS } from '../kernels/threads.js';
import type { LoadOptions } from './types.js';

/** Rows of one forward of a prompt. */
const BATCH_SIZE = 512;
const PRECISIONS: readonly (Precision | null)[] = [null, 'f32', 'f16', 'bf16', 'q8', 'q4'];
const CACHE_DTYPES = ['f16', 'f32'] as const;

/** Options of a load with the defaults in their places. `threads` null: as many as the arithmetic chooses. */
export interface CompleteLoadOptions {
  readonly quant: Precision | null;
  readonly kvCacheDtype: 'f16' | 'f32';
  readonly batchSize: number;
  readonly threads: number | null;
  readonly lenient: boolean;
  readonly allowReference: boolean;
  readonly requireNative: boolean;
}

/** Throws KVAD_E_OPTION. */
export const completeLoadOptions = (options: LoadOptions): CompleteLoadOptions => ({
  quant: oneOf('quant', options.quant ?? null, PRECISIONS),
  kvCacheDtype: oneOf('kvCacheDtype', options.kvCacheDtype ?? 'f16', CACHE_DTYPES),
  batchSize: positive('batchSize', options.batchSize ?? BATCH_SIZE),
  threads: options.threads === undefined ? null : threadsOf(options.threads),
  lenient: options.lenient ?? false,
  allowReference: options.allowReference ?? false,
  requireNative: options.requireNative ?? false,
});

const oneOf = <T>(option: string, value: T, allowed: readonly T[]): T => {
  if (allowed.includes(value)) return value;
  throw new KvadError('KVAD_E_OPTION', { option, value: String(value), expected: `one of ${allowed.join(', ')}` });
};

const threadsOf = (value: number): number => {
  if (Number.isSafeInteger(value) && value >= 1 && value <= MOST_THREADS) return value;
  const expected = `an integer from 1 to ${MOST_THREADS}`;
  throw new KvadError('KVAD_E_OPTION', { option: 'threads', value: String(value), expected });
};

export const positive = (option: string, value: number): number => {
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new KvadError('KVAD_E_OPTION', { option, value: String(value), expected: 'an integer of at least 1' });
};
