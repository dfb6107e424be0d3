import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { mapFile } from '../../checkpoint/mapped-file.js';
import { KvadError } from '../../errors/kvad-error.js';
import { loadAddon } from '../../kernels/native/addon.js';
import { readBytes } from '../json-file.js';
import { digestOf } from './kept-tokenizer.js';
import type { TokenizerSource } from './library.js';

/** A tokenizer.json that is being loaded. */
export interface GivenTokenizer {
  /** Of the text, without a byte order mark. Not to be looked at after `leave`. */
  readonly bytes: Buffer;
  readonly source: TokenizerSource;
  /** Stands for the bytes: a file that changes has another. */
  readonly identity: string;
  /** The bytes are not needed any more, and take no memory from here on. */
  leave(): void;
  /** Throws KVAD_E_TOKENIZER_INVALID where the file is another one by now. */
  requireUnchanged(): void;
}

/**
 * A file of a model's folder; null where there is none. Nothing of it is held: the bytes are those of the mapped file
 * where the addon is there, and a text is read anew whenever somebody asks, from the same file. Throws KVAD_E_TEXT_FILE.
 */
export const openStored = (directory: string, name: string): GivenTokenizer | null => {
  const stored = { directory, name, file: join(directory, name), stamp: stampOf(join(directory, name)) };
  const bytes = readBytes(directory, name, mappedBytes);
  if (bytes === null) return null;
  return {
    bytes,
    source: sourceOf(stored, bytes.length),
    identity: stored.stamp === null ? digestOf(bytes) : JSON.stringify(stored.stamp),
    leave: () => loadAddon()?.leave(bytes),
    requireUnchanged: () => {
      requireUnchanged(stored, 'it changed while it was read');
    },
  };
};

interface Stored {
  readonly directory: string;
  readonly name: string;
  readonly file: string;
  readonly stamp: Stamp | null;
}

/** Made apart from the bytes, which must not live for as long as it does. */
const sourceOf = (stored: Stored, length: number): TokenizerSource => ({
  // Without its byte order mark a file is another text than the one that was checked.
  file: stored.stamp?.size === length ? stored.file : null,
  text: () => {
    const text = readBytes(stored.directory, stored.name)?.toString('utf8') ?? '';
    requireUnchanged(stored, 'it has changed since it was loaded');
    return text;
  },
});

const requireUnchanged = ({ file, stamp }: Stored, reason: string): void => {
  if (!isSame(stampOf(file), stamp)) throw new KvadError('KVAD_E_TOKENIZER_INVALID', { file, reason });
};

/** What changes with a file. */
interface Stamp {
  readonly size: number;
  readonly inode: number;
  readonly modified: number;
  /**
   * Whoever writes a file can set `modified` back, as unpacking does; this one nobody sets. But it changes with another
   * link or mode too: then a file is read anew, and it is not said to be another.
   */
  readonly changed: number;
}

const isSame = (a: Stamp | null, b: Stamp | null): boolean =>
  a?.size === b?.size && a?.inode === b?.inode && a?.modified === b?.modified;

const stampOf = (file: string): Stamp | null => {
  try {
    const { size, ino: inode, mtimeMs: modified, ctimeMs: changed } = statSync(file);
    return { size, inode, modified, changed };
  } catch {
    return null; // reading it says why
  }
};

/** As a mapped file, where that can be: then `leave` gives back the memory that they take. */
const mappedBytes = (file: string): Buffer => {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const mapped = size === 0 ? null : mapFile({ file, descriptor, size });
    if (mapped === null) return readFileSync(descriptor);
    const { buffer, byteOffset, byteLength } = mapped.view(0, size);
    return Buffer.from(buffer, byteOffset, byteLength);
  } finally {
    closeSync(descriptor);
  }
};
