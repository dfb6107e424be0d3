/**
 * A `.kvq` file holds the quantised matrices of one model in the layout that the kernels read:
 *   0   8 bytes   magic `KVADQ` and the format version
 *   8   u64 LE    where the header starts      16  u64 LE  its length in bytes
 *   24  zeros to 64
 *   64  the matrices, each starting at a multiple of 64
 *   …   the header, JSON: `QuantHeader`
 * It is written under another name and renamed when it is complete, so a file of this name is whole.
 */
export const FORMAT_VERSION = 1;
export const MAGIC = Uint8Array.of(0x4b, 0x56, 0x41, 0x44, 0x51, 0, 0, FORMAT_VERSION);
export const PREFIX_BYTES = 64;
export const ALIGNMENT = 64;
/** More than any model needs: a header beyond it is not one of ours. */
export const MAX_HEADER_BYTES = 100_000_000;

/** What must be equal for a cache to be used; `differences` says what is not. */
export interface QuantIdentity {
  readonly precision: 'q8' | 'q4';
  /** Of the kernels: changes with the layout of format.h and with the rule that makes codes. */
  readonly layout: number;
  /** Hash of every slot with its shape, role and the tensors that it is bound to. */
  readonly bindings: string;
  readonly sources: readonly QuantSource[];
}

export interface QuantSource {
  readonly file: string;
  readonly size: number;
  /** `sha256:…` where the file is a blob of the Hugging Face cache, else `modified:` and milliseconds. */
  readonly id: string;
}

export interface QuantEntry {
  readonly shape: readonly number[];
  readonly precision: 'q8' | 'q4';
  readonly offset: number;
  readonly length: number;
}

export interface QuantHeader {
  readonly identity: QuantIdentity;
  /** The model's folder, for people; nothing is decided by it. Absent in files of earlier versions. */
  readonly directory?: string;
  readonly entries: Readonly<Record<string, QuantEntry>>;
}

/** Version of the layout in `core/native/src/format.h` that `packedBytes` knows. */
export const PACKED_LAYOUT = 1;

/** Bytes of a matrix [out, in], or a stack of them, in that layout: groups of 16 rows, blocks of 32 columns. */
export const packedBytes = (precision: 'q8' | 'q4', shape: readonly number[]): number => {
  const [rows = 0, cols = 0] = shape.slice(-2);
  const blocks = Math.ceil(cols / 32);
  const group = blocks * (precision === 'q8' ? 512 : 256) + Math.ceil((blocks * 32) / 64) * 64;
  return shape.slice(0, -2).reduce((all, count) => all * count, Math.ceil(rows / 16) * group);
};

/** The first thing that differs, in words; null: nothing. */
export const difference = (held: QuantIdentity, wanted: QuantIdentity): string | null => {
  if (held.precision !== wanted.precision) return `it holds ${held.precision}`;
  if (held.layout !== wanted.layout) return `its layout is version ${held.layout}, the kernels read ${wanted.layout}`;
  if (JSON.stringify(held.sources) !== JSON.stringify(wanted.sources)) return 'the files of the model have changed';
  if (held.bindings !== wanted.bindings) return 'the model is put together in another way';
  return null;
};
