import { loadAddon } from '../../kernels/native/addon.js';
import type { Cut } from './outline.js';

/** A tokenizer.json in a file of its own, for as long as it is not closed. */
export interface JoinedMerges {
  readonly file: string;
  close(): void;
}

/**
 * The tokenizer.json of `bytes` with its merges, pairs of texts, as the texts with a space between that they were before
 * the format had pairs. To the library both are the same; it needs half as much memory to read the older form, and somewhat
 * less time. null: they are not pairs, or some of them have no older form, or this system or build has no files in memory.
 */
export const joinMerges = (bytes: Uint8Array, merges: Cut | null): JoinedMerges | null => {
  const addon = loadAddon();
  if (addon === null || merges === null) return null;
  const descriptor = addon.joinMerges(bytes, merges.start, merges.end);
  if (descriptor < 0) return null;
  return {
    file: `/proc/self/fd/${descriptor}`,
    close: () => {
      addon.close(descriptor);
    },
  };
};
