import { expect, it } from 'vitest';
import { claimedFixtures } from '../conformance/conform.js';
import { IDLE } from '../conformance/idle.js';
import { registeredModelTypes, repositoryFiles } from './sources.js';

const fixtures = claimedFixtures();

it('each folder of fixtures that a bundled family claims is run by a conformance test', () => {
  const run = repositoryFiles().map((file) => /^test\/conformance\/(.+)\.test\.ts$/.exec(file)?.[1]);
  expect([...new Set(fixtures.map(({ group }) => group))].filter((group) => !run.includes(group))).toEqual([]);
});

it('each model type that a bundled plugin registers is proved by a fixture', () => {
  const proved = new Set(fixtures.map(({ modelType }) => modelType));
  expect(registeredModelTypes().filter((type) => !proved.has(type))).toEqual([]);
});

it('each excuse is of a fixture that is run', () => {
  const names = new Set(fixtures.map(({ name }) => name));
  expect(Object.keys(IDLE).filter((name) => !names.has(name))).toEqual([]);
});
