import 'reflect-metadata';
import { container, type DependencyContainer } from 'tsyringe';
import { completeSettings, type EngineOptions } from './engine-settings.js';
import { startThreads, type StartThreads } from './start-threads.js';
import { ENGINE, ENGINE_SETTINGS, START_THREADS } from './tokens.js';
import { WorkerEngine } from './worker-engine.js';

/**
 * The composition root of the caller's thread. Each engine has a container of its own, and so has each of its workers,
 * made from the same settings (worker-container.ts): neither thread imports what the other one works with.
 */
export const createContainer = (
  options: EngineOptions = {},
  start: StartThreads = startThreads,
): DependencyContainer => {
  const engine = container.createChildContainer();
  engine.register(ENGINE_SETTINGS, { useValue: completeSettings(options) });
  engine.register(START_THREADS, { useValue: start });
  engine.register(ENGINE, { useClass: WorkerEngine });
  return engine;
};
