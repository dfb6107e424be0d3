import { constants } from 'node:buffer';
import { shrankWords } from '../errors/last-words.js';
import { loadAddon } from '../kernels/native/addon.js';

/** As much as is mapped at once: a view of memory has fewer bytes than published files have. */
const WINDOW_BYTES = 2 ** 30;

/** A file that is open, as read-only memory. */
export interface MappedFile {
  /** A view of `length` bytes from `offset`, which lie inside of the file. Throws what the system says. */
  view(offset: number, length: number): Uint8Array;
}

interface OpenFile {
  readonly file: string;
  readonly descriptor: number;
  readonly size: number;
}

/**
 * Maps what is asked for, in windows, so that a file may be larger than any view: a range that lies in one of the windows
 * that the file divides into is a view of that; one across their borders, or larger, has a window of its own. Windows
 * stay while someone holds a view of them. Null where there is no addon.
 */
export const mapFile = ({ file, descriptor, size }: OpenFile): MappedFile | null => {
  const addon = loadAddon();
  if (addon === null) return null;
  const shrank = shrankWords(file, size);
  const windows = new Map<number, ArrayBuffer>();
  return {
    view: (offset, length) => {
      if (length > constants.MAX_LENGTH) throw new Error(`${length} bytes at once are more than this system gives`);
      const start = offset - (offset % WINDOW_BYTES);
      const end = Math.min(start + WINDOW_BYTES, size);
      if (offset + length > end) return new Uint8Array(addon.map(file, descriptor, offset, length, shrank));
      const window = windows.get(start) ?? addon.map(file, descriptor, start, end - start, shrank);
      windows.set(start, window);
      return new Uint8Array(window, offset - start, length);
    },
  };
};
