import { createRegistry } from '@kvad/arch-registry';
import { gatherParts, PartRegistry, planModel, readConfig } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { at } from '../../gates/sources.js';
import { temporaryFolder } from './temporary-folder.js';

/** Gathers the parts of a fixture with some of the plugins only. */
const gather = async (fixture: string, plugins: readonly string[]): Promise<PartRegistry> => {
  const empty = temporaryFolder('empty');
  const registry = createRegistry({
    plugins: [],
    workingDirectory: empty,
    userDirectory: empty,
    bundled: plugins.map((name) => at(`plugins/${name}`)),
  });
  const file = at(`test/fixtures/moe/${fixture}/config.json`);
  const raw = readConfig(file);
  const { family, modelType, schemas } = await registry.resolve(raw, file);
  const { plan } = planModel({ family, modelType, raw, file, schemas });
  return gatherParts(plan, registry, (all) => PartRegistry.of(all));
};

describe('a family of several plugins', () => {
  it('gets its parts from all of them', async () => {
    const parts = await gather('qwen2_moe', ['dense', 'moe', 'shared-expert']);
    expect([parts.has('mixer', 'attention'), parts.has('ffn', 'moe'), parts.has('router', 'softmax')]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it.each([
    ['qwen2_moe', ['dense', 'shared-expert'], 'ffn', 'moe', '@kvad/arch-moe'],
    ['qwen2_moe', ['moe', 'shared-expert'], 'mixer', 'attention', '@kvad/arch-dense'],
    ['glm4_moe', ['dense', 'moe'], 'shared-expert', 'plain', '@kvad/arch-shared-expert'],
  ])('%s with %j alone lacks the %s %s of %s, and says so', async (fixture, plugins, axis, kind, provider) => {
    await expect(gather(fixture, plugins)).rejects.toMatchObject({
      code: 'KVAD_E_PART_UNKNOWN',
      params: { axis, kind, provider },
      hint: expect.stringContaining(provider) as string,
    });
  });
});
