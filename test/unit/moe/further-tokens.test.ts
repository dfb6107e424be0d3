import { cpSync } from 'node:fs';
import path from 'node:path';
import { familyIn, fixtureDirectory, readTensors, TestModel, writeSafetensors } from '@kvad/core/testing';
import { expect, it } from 'vitest';
import { opened } from './plugins.js';
import { temporaryFolder } from './temporary-folder.js';

/** A checkpoint that holds, beside its own, a tensor of a layer that predicts further tokens. */
const withTensor = (fixture: string, name: string): string => {
  const published = fixtureDirectory(`moe/${fixture}`);
  const target = temporaryFolder(fixture);
  cpSync(published, target, { recursive: true });
  const file = path.join(target, 'model.safetensors');
  const more = { dtype: 'F32', shape: [1], bytes: new Uint8Array(4) };
  writeSafetensors(file, { ...Object.fromEntries(readTensors(file)), [name]: more });
  return target;
};

it.each([
  ['glm4_moe', 'model.layers.3.eh_proj.weight'],
  ['ernie4_5_moe', 'model.mtp_linear_proj.0.weight'],
])('%s does not need %s, and says why', (fixture, name) => {
  const model = TestModel.open({
    under: familyIn(opened, fixture),
    plugins: opened.map(({ plugin }) => plugin),
    directory: withTensor(fixture, name),
  });
  const unneeded = model.weightAudit.unneeded.filter(({ count }) => count > 0);
  expect(unneeded).toEqual([
    { pattern: expect.any(String), reason: 'a layer that predicts further tokens, which is not run', count: 1 },
  ]);
});
