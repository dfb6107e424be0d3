import { Worker } from 'node:worker_threads';
import { WORKER_MODULE } from './host-modules.js';

/** Gives a thread that will serve the model of the `load` that it is sent. */
export type StartWorker = () => Worker;

/** Flags of the caller's own program (`--input-type`, `--import`) are not for the worker's. */
export const startWorker: StartWorker = () => new Worker(WORKER_MODULE, { execArgv: [] });
