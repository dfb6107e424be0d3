import { KvadError, type LoadOptions } from '@kvad/core';
import type { Io } from '../io/io.js';
import { withoutUndefined } from './without-undefined.js';

/** The flags that decide how a model is loaded; a command has some of them. */
export interface LoadingFlags {
  readonly quant?: 'f32' | 'bf16' | 'q8' | 'q4' | undefined;
  readonly threads?: number | undefined;
  readonly batchSize?: number | undefined;
  readonly kvCacheDtype?: 'f16' | 'f32' | undefined;
  readonly lenient?: boolean;
  readonly allowReference?: boolean;
  readonly requireNative?: boolean;
}

/** Flags, then KVAD_THREADS and KVAD_REQUIRE_NATIVE. Throws KVAD_E_OPTION. */
export const loadOptions = (io: Io, flags: LoadingFlags): LoadOptions => {
  const { quant, batchSize, kvCacheDtype, lenient, allowReference } = flags;
  return withoutUndefined({
    quant,
    batchSize,
    kvCacheDtype,
    lenient,
    allowReference,
    threads: flags.threads ?? threadsOf(io.env.KVAD_THREADS),
    requireNative: flags.requireNative === true || isOn(io.env.KVAD_REQUIRE_NATIVE),
  });
};

const threadsOf = (value: string | undefined): number | undefined => {
  if (value === undefined || value === '') return undefined;
  const threads = Number(value);
  if (Number.isSafeInteger(threads) && threads >= 1 && threads <= 256) return threads;
  throw new KvadError('KVAD_E_OPTION', { option: 'KVAD_THREADS', value, expected: 'a whole number from 1 to 256' });
};

const isOn = (value: string | undefined): boolean => value !== undefined && !['', '0', 'false'].includes(value);
