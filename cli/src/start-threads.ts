import { Worker } from 'node:worker_threads';
import { serveTokenizer, type TokenizerOrder } from '@kvad/core';
import { TOKENIZER_MODULE, WORKER_MODULE } from './host-modules.js';

/** What a model runs in. */
export interface ModelThreads {
  /** Serves the model of the `load` that it is sent. */
  readonly model: Worker;
  readonly tokenizer: TokenizerPlace;
}

/** Where a tokenizer is loaded: beside the weights, for it takes as long as they do. */
export interface TokenizerPlace {
  /** Has to be called once for each model, when the one before is closed. */
  serve(order: TokenizerOrder): void;
  /** It can serve another model. */
  readonly isAlive: boolean;
  terminate(): Promise<unknown>;
}

/** `free`: a place for the tokenizer whose model is closed. */
export type StartThreads = (free: TokenizerPlace | null) => ModelThreads;

/** A thread for the model and one for its tokenizer: the caller's waits for neither. */
export const startThreads: StartThreads = (free) => ({
  model: startModelThread(),
  tokenizer: free ?? tokenizerThread(),
});

export const startModelThread = (): Worker => start(WORKER_MODULE);

const tokenizerThread = (): TokenizerPlace => {
  const worker = start(TOKENIZER_MODULE);
  return {
    serve: (order) => {
      worker.postMessage(order, [order.port]);
    },
    get isAlive() {
      return worker.threadId >= 0;
    },
    terminate: () => worker.terminate(),
  };
};

/** The caller's own thread, for a caller that has nothing else to do until the model is there: that saves a thread's start. */
export const HERE: TokenizerPlace = {
  serve: (order) => {
    serveTokenizer(order);
  },
  isAlive: true,
  terminate: () => Promise.resolve(),
};

/**
 * Flags of the caller's own program (`--input-type`, `--import`) are not for its workers. What they allocate is short-lived,
 * or outside of their heaps: as much room for new objects as threads have by themselves would only be filled.
 * cli/bin/kvad.js starts a worker the same way.
 */
const start = (module: URL): Worker => {
  const worker = new Worker(module, { execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: 6 } });
  worker.unref();
  return worker;
};
