import { testFamily } from '@kvad/core/testing';
import { describe, expect, it } from 'vitest';
import { registeredModelTypes } from '../gates/sources.js';
import { claimedFixtures, pluginFolders } from './fixtures.js';

const cases = claimedFixtures();

/** Keys of a fixture that are read and rightly change nothing. */
const IDLE: Readonly<Record<string, Readonly<Record<string, string>>>> = {};

for (const { name, directory, modelType } of cases) {
  testFamily(modelType, { fixture: directory, plugins: pluginFolders, idle: IDLE[name] ?? {}, describe, it });
}

describe('the fixtures', () => {
  it('hold every model type that a plugin of this repository claims', () => {
    const proved = new Set(cases.map(({ modelType }) => modelType));
    expect(registeredModelTypes().filter((type) => !proved.has(type))).toEqual([]);
  });
});
