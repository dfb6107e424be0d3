import { loadAddon } from './addon.js';

/** By then whoever loads a model for one answer has its first words. */
const AFTER_MILLISECONDS = 1000;

/**
 * Memory that was freed goes back to the system. Loading frees tens of megabytes (a tokenizer.json as the library reads
 * it), which the allocator would keep for as long as the process lives. It takes some milliseconds.
 */
export const giveBackFreedMemory = (): void => void loadAddon()?.trim();

/** The same after a while, so that nobody waits for it; a process that ends before does not. */
export const giveBackFreedMemoryLater = (): void => {
  setTimeout(giveBackFreedMemory, AFTER_MILLISECONDS).unref();
};
