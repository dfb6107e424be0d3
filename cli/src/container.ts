import 'reflect-metadata';
import { AXIS_TOKENS, chooseOps, loadText, PartRegistry, type Plugin } from '@kvad/core';
import { AXES, createRegistry, PART_LISTS, type Registry } from '@kvad/arch-registry';
import { container, instanceCachingFactory, type DependencyContainer } from 'tsyringe';
import { completeSettings, type EngineOptions, type EngineSettings } from './engine-settings.js';
import { ModelLoader } from './model-loader.js';
import { registryOptions } from './plugin-places.js';
import {
  ENGINE,
  ENGINE_SETTINGS,
  LOAD_TEXT,
  MAKE_OPS,
  MAKE_PARTS,
  MODEL_LOADER,
  OPEN_REGISTRY,
  WORKER_ENTRY,
} from './tokens.js';
import { WorkerEngine } from './worker-engine.js';

/**
 * The one composition root: everything that an engine is made of. Each engine has a container of its own, and so has
 * each of its workers, made from the same settings: the thread of the caller resolves `ENGINE`, a worker `MODEL_LOADER`.
 */
export const createContainer = (options: EngineOptions = {}): DependencyContainer => {
  const engine = container.createChildContainer();
  engine.register(ENGINE_SETTINGS, { useValue: completeSettings(options) });
  engine.register(WORKER_ENTRY, { useValue: new URL('./worker.js', import.meta.url) });
  engine.register(ENGINE, { useClass: WorkerEngine });
  engine.register(OPEN_REGISTRY, { useFactory: instanceCachingFactory(openRegistry) });
  engine.register(MAKE_PARTS, { useFactory: (from) => (plugins: readonly Plugin[]) => partsOf(plugins, from) });
  engine.register(MAKE_OPS, { useValue: chooseOps });
  engine.register(LOAD_TEXT, { useValue: loadText });
  engine.register(MODEL_LOADER, { useClass: ModelLoader });
  return engine;
};

/**
 * The registry is made at the first call, not while something is injected: what it refuses (a plugin that is not there)
 * has to reach the caller as it is, and the container would wrap it.
 */
const openRegistry = (from: DependencyContainer): (() => Registry) => {
  let registry: Registry | null = null;
  return () => (registry ??= createRegistry(registryOptions(from.resolve<EngineSettings>(ENGINE_SETTINGS))));
};

/** Each part goes under the token of its axis; the registry is injected with all of them. */
const partsOf = (plugins: readonly Plugin[], from: DependencyContainer): PartRegistry => {
  const model = from.createChildContainer();
  for (const plugin of plugins) {
    for (const axis of AXES) {
      for (const part of plugin[PART_LISTS[axis]]) model.register(AXIS_TOKENS[axis], { useValue: part });
    }
  }
  return model.resolve(PartRegistry);
};
