import { cpSync } from 'node:fs';
import path from 'node:path';
import { familyIn, fixtureDirectory, prefillWhole, readTensors, TestModel, writeSafetensors } from '@kvad/core/testing';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../moe/temporary-folder.js';
import { dense } from './hand-made.js';

const logitsIn = async (directory: string): Promise<Float32Array> => {
  const under = familyIn([dense], 'gpt_neox');
  const model = TestModel.open({ under, plugins: [dense.plugin], directory });
  try {
    return await prefillWhole(model, Int32Array.of(5, 3, 8));
  } finally {
    await model.close();
  }
};

it('gpt_neox finds its head by the published name and by the one that a save without conversion gives it', async () => {
  const published = fixtureDirectory('breadth/gpt_neox');
  const renamed = temporaryFolder('gpt_neox');
  cpSync(published, renamed, { recursive: true });
  const file = path.join(renamed, 'model.safetensors');
  const { 'embed_out.weight': head, ...others } = Object.fromEntries(readTensors(file));
  writeSafetensors(file, { ...others, 'lm_head.weight': head! });
  expect(await logitsIn(renamed)).toEqual(await logitsIn(published));
});
