import type { WeightData } from '../kernels/tensor.js';

/** Names of the safetensors element types; which of them can be read is decided in `dtypes.ts`. */
export type StoredDtype = string;

/** A tensor as a file's header tells it. */
export interface StoredTensor {
  readonly name: string;
  readonly dtype: StoredDtype;
  readonly shape: readonly number[];
  /** Path of the file, and where the bytes stand in it. */
  readonly file: string;
  readonly offset: number;
  readonly byteLength: number;
}

/** One or several safetensors files, opened and checked. Opening reads headers only. */
export interface Checkpoint {
  readonly directory: string;
  readonly files: readonly string[];
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /** The bytes of a tensor: a view of the mapped file where there is one, else read by positional reads. */
  read(name: string): StoredBytes;
  close(): void;
}

export interface StoredBytes {
  readonly tensor: StoredTensor;
  readonly bytes: Uint8Array;
}

/** The weights of a plan, by full slot name. Reading happens here, once per slot, in the order asked. */
export interface BoundWeights {
  has(slot: string): boolean;
  read(slot: string): WeightData;
  /** Tensor names behind a slot: two slots with equal names share one handle. */
  sourceOf(slot: string): string;
}
