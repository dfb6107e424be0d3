import { AXIS_TOKENS, PartRegistry } from '@kvad/core';
import { expect, it } from 'vitest';
import { createContainer } from '../../cli/dist/container.js';
import { createWorkerContainer } from '../../cli/dist/worker-container.js';
import * as TOKENS from '../../cli/dist/tokens.js';

it.each(Object.entries(TOKENS))('a container resolves %s', (_, token) => {
  const holder = [createContainer(), createWorkerContainer()].find((container) => container.isRegistered(token));
  expect(holder?.resolve(token)).toBeDefined();
});

it('each token is of kvad and has one name in every copy of a package', () => {
  for (const token of [...Object.values(TOKENS), ...Object.values(AXIS_TOKENS)]) {
    expect(Symbol.keyFor(token)).toMatch(/^kvad\./);
  }
  expect(new Set(Object.values(TOKENS)).size).toBe(Object.keys(TOKENS).length);
});

it('a registry of parts resolves where no plugin brings any', () => {
  expect(createWorkerContainer().resolve(PartRegistry).has('mixer', 'attention')).toBe(false);
});
