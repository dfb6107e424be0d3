import type { HostModules } from '@kvad/arch-registry';

// Where the modules of this program are. In a bundle another file with the same exports stands in place of this one
// (scripts/bundle.mjs).

/** What the worker thread of a model runs. */
export const WORKER_MODULE = new URL('./worker.js', import.meta.url);

/** What the thread of its tokenizer runs. */
export const TOKENIZER_MODULE = new URL('./tokenizer-worker.js', import.meta.url);

/** undefined: the modules of the packages as they lie. */
export const HOST_MODULES: HostModules | undefined = undefined;
