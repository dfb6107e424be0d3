import { parentPort } from 'node:worker_threads';
import { openThrough, serveModel } from '@kvad/core';
import type { ModelLoader } from './model-loader.js';
import { MODEL_LOADER } from './tokens.js';
import { createWorkerContainer } from './worker-container.js';
import type { WorkerData } from './worker-engine.js';

if (parentPort === null) throw new Error('this module runs in the worker thread of a model');

// Answers are the caller's to print: what a plugin writes to stdout would stand among them.
process.stdout.write = process.stderr.write.bind(process.stderr);

// The container is made within the load, so that what it refuses reaches the caller as it is.
serveModel(parentPort, async (data) => {
  const { settings, directory, options, tokenizer } = data as WorkerData;
  const container = createWorkerContainer(settings, openThrough(tokenizer));
  return container.resolve<ModelLoader>(MODEL_LOADER).load(directory, options);
});
