import 'reflect-metadata';
import { container, type DependencyContainer } from 'tsyringe';
import { completeSettings, type EngineOptions } from './engine-settings.js';
import { startWorker, type StartWorker } from './start-worker.js';
import { ENGINE, ENGINE_SETTINGS, START_WORKER } from './tokens.js';
import { WorkerEngine } from './worker-engine.js';

/**
 * The composition root of the caller's thread. Each engine has a container of its own, and so has each of its workers,
 * made from the same settings: that one (worker-container.ts) has also what a model is loaded with, which this thread
 * does not import.
 */
export const createContainer = (options: EngineOptions = {}, start: StartWorker = startWorker): DependencyContainer => {
  const engine = container.createChildContainer();
  engine.register(ENGINE_SETTINGS, { useValue: completeSettings(options) });
  engine.register(START_WORKER, { useValue: start });
  engine.register(ENGINE, { useClass: WorkerEngine });
  return engine;
};
