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
  /** What is odd and does not stop the load: files and tensors that are not read. For people. */
  readonly warnings: readonly string[];
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
  /**
   * Where a slot's weight comes from: tensor names and what is done with them. Slots with equal sources hold the same
   * values and share one handle; two row ranges of one fused tensor have different sources.
   */
  sourceOf(slot: string): string;
}
