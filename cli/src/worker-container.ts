import 'reflect-metadata';
import {
  AXIS_TOKENS,
  chooseOps,
  KeptTokenizer,
  loadText,
  PartRegistry,
  sayErrorsAs,
  type OpenTokenizer,
  type OpsChoice,
  type Plugin,
  type TextOptions,
} from '@kvad/core';
import { AXES, createRegistry, PART_LISTS, type Registry } from '@kvad/arch-registry';
import { container, instanceCachingFactory, type DependencyContainer } from 'tsyringe';
import { completeSettings, type EngineOptions, type EngineSettings } from './engine-settings.js';
import { ModelLoader } from './model-loader.js';
import { registryOptions } from './plugin-places.js';
import { ENGINE_SETTINGS, LOAD_TEXT, MAKE_OPS, MAKE_PARTS, MODEL_LOADER, OPEN_REGISTRY } from './tokens.js';

/**
 * The composition root of the thread that loads a model: everything that `MODEL_LOADER` needs. `openTokenizer` absent: its
 * tokenizer is loaded in this thread too.
 */
export const createWorkerContainer = (
  options: EngineOptions = {},
  openTokenizer?: OpenTokenizer,
): DependencyContainer => {
  const worker = container.createChildContainer();
  const settings = completeSettings(options);
  sayErrorsAs(settings.env);
  worker.register(ENGINE_SETTINGS, { useValue: settings });
  worker.register(OPEN_REGISTRY, { useFactory: instanceCachingFactory(openRegistry) });
  worker.register(MAKE_PARTS, { useFactory: (from) => (plugins: readonly Plugin[]) => partsOf(plugins, from) });
  worker.register(MAKE_OPS, {
    useFactory: (from) => (choice: OpsChoice) => chooseOps(choice, from.resolve<EngineSettings>(ENGINE_SETTINGS).env),
  });
  const textOptions: TextOptions = openTokenizer === undefined ? { kept: new KeptTokenizer() } : { openTokenizer };
  worker.register(LOAD_TEXT, { useValue: (directory: string) => loadText(directory, textOptions) });
  worker.register(MODEL_LOADER, { useClass: ModelLoader });
  return worker;
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
