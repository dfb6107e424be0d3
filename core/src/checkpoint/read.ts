import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { KvadError } from '../errors/kvad-error.js';
import { mapFile, type MappedFile } from './mapped-file.js';

/**
 * The bytes of one file. Reading by position copies; a mapped file gives views of its memory instead. Who reads must
 * not write into what it gets, and must not expect it to be aligned.
 */
export interface ByteSource {
  readonly file: string;
  /** Bytes. */
  readonly size: number;
  /**
   * Exactly `length` bytes from `offset`; a range outside of the file throws KVAD_E_SAFETENSORS_READ, one that the file
   * no longer has KVAD_E_FILE_SHRANK. Views of a mapped file that shrinks later end the process with that error.
   */
  read(offset: number, length: number): Uint8Array;
  /** The same, never as a view: for what is looked at once. A file of which no more is read is not mapped. */
  copy(offset: number, length: number): Uint8Array;
  close(): void;
}

/** From so many bytes on a view of the mapped file is given; below, a copy costs less than a page of its own. */
const MAPPED_FROM = 2 ** 14;

/** Most bytes asked for in one system call: Node aborts the process from 2 GiB on. */
const MOST_AT_ONCE = 2 ** 30;

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Opens a file. Large ranges are views of the mapped file where the native addon is there (read-only memory: writing to
 * one ends the process), all others copies made by positional reads. Throws KVAD_E_SAFETENSORS_READ.
 */
export const openBytes = (file: string, mostAtOnce: number = MOST_AT_ONCE): ByteSource => {
  let descriptor: number;
  let size: number;
  try {
    // Looked at before it is opened: opening a pipe would wait for its writer, in a call that nothing can end.
    if (!statSync(file).isFile()) throw new Error('it is not a file');
    descriptor = openSync(file, 'r');
  } catch (error) {
    throw new KvadError('KVAD_E_SAFETENSORS_READ', { file, reason: reasonOf(error) }, { cause: error });
  }
  try {
    size = fstatSync(descriptor).size;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }

  let open = true;
  let mapped: MappedFile | null | undefined;
  const check = (offset: number, length: number): void => {
    // The system may have given the descriptor to another file since.
    if (!open) throw new KvadError('KVAD_E_SAFETENSORS_READ', { file, reason: 'it has been closed' });
    if (offset < 0 || length < 0 || offset + length > size) {
      const reason = `bytes ${offset} to ${offset + length} were asked of ${size}`;
      throw new KvadError('KVAD_E_SAFETENSORS_READ', { file, reason });
    }
  };
  /** A file that was cut short has no memory where the view would be. */
  const refuseChanged = (): void => {
    const now = fstatSync(descriptor).size;
    if (now === size) return;
    if (now < size) throw new KvadError('KVAD_E_FILE_SHRANK', { file, opened: size, now });
    const reason = `it has ${now} bytes, it had ${size} when it was opened`;
    throw new KvadError('KVAD_E_SAFETENSORS_READ', { file, reason });
  };
  const read = (offset: number, length: number): Uint8Array => {
    check(offset, length);
    if (length < MAPPED_FROM) return copy(offset, length);
    mapped ??= mapFile({ file, descriptor, size });
    if (mapped === null) return copy(offset, length);
    refuseChanged();
    try {
      return mapped.view(offset, length);
    } catch (error) {
      throw new KvadError('KVAD_E_SAFETENSORS_READ', { file, reason: reasonOf(error) }, { cause: error });
    }
  };
  const copy = (offset: number, length: number): Uint8Array => {
    check(offset, length);
    const bytes = allocate(length, file);
    let done = 0;
    while (done < length) {
      let count: number;
      try {
        count = readSync(descriptor, bytes, done, Math.min(length - done, mostAtOnce), offset + done);
      } catch (error) {
        throw new KvadError('KVAD_E_SAFETENSORS_READ', { file, reason: reasonOf(error) }, { cause: error });
      }
      if (count === 0) {
        throw new KvadError('KVAD_E_FILE_SHRANK', { file, opened: size, now: fstatSync(descriptor).size });
      }
      done += count;
    }
    return bytes;
  };

  return {
    file,
    size,
    read,
    copy,
    close: () => {
      if (open) closeSync(descriptor);
      open = false;
      mapped = undefined;
    },
  };
};

const allocate = (length: number, file: string): Uint8Array<ArrayBuffer> => {
  try {
    return new Uint8Array(new ArrayBuffer(length));
  } catch (error) {
    const reason = `${length} bytes at once are more than this system gives`;
    throw new KvadError('KVAD_E_SAFETENSORS_READ', { file, reason }, { cause: error });
  }
};
