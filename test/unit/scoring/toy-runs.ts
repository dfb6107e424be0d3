import { rmSync } from 'node:fs';
import { createEngine, type Engine, type LoadedModel } from 'kvad';
import { afterAll, beforeAll } from 'vitest';
import { TOY_FOLDER, toyFolder, type ToyChoice } from '../runtime/toy.js';

/** Toy models, loaded by one engine for the tests of a file. */
export const toyModels = <K extends string>(choices: Readonly<Record<K, ToyChoice>>): Record<K, LoadedModel> => {
  const models = {} as Record<K, LoadedModel>;
  const folders: string[] = [];
  let engine: Engine;
  beforeAll(async () => {
    engine = createEngine({ plugins: [TOY_FOLDER], env: {} });
    for (const [name, choice] of Object.entries<ToyChoice>(choices)) {
      const folder = toyFolder(choice);
      folders.push(folder);
      models[name as K] = await engine.load(folder, { kvCacheDtype: 'f32' });
    }
  });
  afterAll(async () => {
    await engine.close();
    for (const folder of folders) rmSync(folder, { recursive: true });
  });
  return models;
};
