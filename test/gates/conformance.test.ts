import { openPlugin } from '@kvad/core/testing';
import { expect, it } from 'vitest';
import { claimedFixtures, pluginFolders } from '../conformance/conform.js';
import { IDLE } from '../conformance/idle.js';
import { registeredModelTypes, repositoryFiles } from './sources.js';

const fixtures = claimedFixtures();

it('each folder of fixtures that a bundled family claims is run by a conformance test', () => {
  const run = repositoryFiles().map((file) => /^test\/conformance\/(.+)\.test\.ts$/.exec(file)?.[1]);
  expect([...new Set(fixtures.map(({ group }) => group))].filter((group) => !run.includes(group))).toEqual([]);
});

it('each family of a bundled plugin is proved by a fixture of one of its model types', async () => {
  const proved = new Set(fixtures.map(({ modelType }) => modelType));
  const plugins = await Promise.all(pluginFolders.map(openPlugin));
  const families = plugins.flatMap(({ plugin }) => plugin.families.map(({ modelTypes }) => modelTypes));
  expect(families.flat().sort()).toEqual(registeredModelTypes());
  expect(families.filter((modelTypes) => !modelTypes.some((type) => proved.has(type)))).toEqual([]);
});

it('each excuse is of a fixture that is run', () => {
  const names = new Set(fixtures.map(({ name }) => name));
  expect(Object.keys(IDLE).filter((name) => !names.has(name))).toEqual([]);
});
