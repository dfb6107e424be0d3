/** Runs the conformance kit over the checkpoints of a folder of test/fixtures that a bundled plugin claims. */
import { existsSync } from 'node:fs';
import { testFamily } from '@kvad/core/testing';
import { describe, it } from 'vitest';
import { at, packages, readJson, registeredModelTypes, repositoryFiles } from '../gates/sources.js';
import { IDLE } from './idle.js';

export interface Fixture {
  /** Below test/fixtures: `dense-core/llama`. */
  readonly name: string;
  readonly group: string;
  readonly modelType: string;
}

/** Those with a reference whose outer model_type is registered. */
export const claimedFixtures = (): Fixture[] => {
  const known = new Set(registeredModelTypes());
  return repositoryFiles()
    .map((file) => /^test\/fixtures\/(([^/]+)\/[^/]+)\/config\.json$/.exec(file))
    .filter((match) => match !== null)
    .map(([file, name, group]) => ({ name: name!, group: group!, modelType: readJson(file)['model_type'] as string }))
    .filter(
      ({ name, modelType }) => known.has(modelType) && existsSync(at(`test/fixtures/${name}/reference.safetensors`)),
    );
};

/** All plugins: a family may name parts of any of them. */
export const pluginFolders = packages()
  .filter(({ folder }) => folder.startsWith('plugins/'))
  .map(({ folder }) => at(folder));

export const testFixturesOf = (group: string): void => {
  for (const { name, modelType } of claimedFixtures().filter((fixture) => fixture.group === group)) {
    testFamily(modelType, {
      fixture: at(`test/fixtures/${name}`),
      plugins: pluginFolders,
      idle: IDLE[name] ?? {},
      describe,
      it,
    });
  }
};
