import { rmSync } from 'node:fs';
import {
  createReferenceOps,
  loadModel,
  loadText,
  PartRegistry,
  type Family,
  type LoadOptions,
  type LoadPieces,
} from '@kvad/core';
import { afterAll, describe, expect, it } from 'vitest';
import { refuseKernels } from '../../../core/dist/runtime/refuse-kernels.js';
import { distance, fresh, idsOf, TOY, TOY_FOLDER, toyFolder, toyModel } from './toy.js';

const folder = toyFolder();
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const pieces: LoadPieces = {
  source: {
    resolve: () =>
      Promise.resolve({
        modelType: 'toy_lm',
        family: TOY.families[0] as Family,
        schemas: TOY_FOLDER,
        plugin: { plugin: TOY },
      }),
    require: () => Promise.resolve([{ plugin: TOY }]),
  },
  makeParts: (plugins) => PartRegistry.of(plugins),
  makeOps: createReferenceOps,
  loadText,
};

const load = (options: LoadOptions = {}) => loadModel(folder, options, pieces);

describe('a folder loaded into this thread', () => {
  it('computes what its plan and weights say', async () => {
    const model = await load({ kvCacheDtype: 'f32', batchSize: 7 });
    const session = await model.session();
    const ids = idsOf(30);
    const logits = await session.prefill(ids, { logits: 'all' });
    expect(distance([...logits], await fresh(toyModel(), ids))).toBeLessThan(1e-5);
    expect(model.facts).toMatchObject({ directory: folder, kernels: 'reference', threads: 1, quant: null });
    await model.close();
    await expect(model.session()).rejects.toMatchObject({ code: 'KVAD_E_CLOSED', params: { what: 'model' } });
  });

  it('is refused where native arithmetic is required', async () => {
    await expect(load({ requireNative: true })).rejects.toMatchObject({
      code: 'KVAD_E_NATIVE_MISSING',
      params: { kernels: 'reference' },
    });
  });

  it.each<[LoadOptions, string]>([
    [{ quant: 'int8' as never }, 'quant'],
    [{ kvCacheDtype: 'bf16' as never }, 'kvCacheDtype'],
    [{ batchSize: 1.5 }, 'batchSize'],
    [{ threads: 0 }, 'threads'],
  ])('is refused with the options %j', async (options, option) => {
    await expect(load(options)).rejects.toMatchObject({ code: 'KVAD_E_OPTION', params: { option } });
  });
});

describe('the reference arithmetic', () => {
  const ask =
    (parameters: number, name = 'reference', allowReference = false) =>
    () =>
      refuseKernels({
        directory: 'models/large',
        parameters,
        ops: { name },
        options: { requireNative: false, allowReference },
      });

  it('runs small models, and large ones where that is allowed', () => {
    expect(ask(300e6)).not.toThrow();
    expect(ask(7e9, 'reference', true)).not.toThrow();
    expect(ask(7e9, 'native')).not.toThrow();
  });

  it('refuses large models, with both numbers and the folder', () => {
    expect(ask(300e6 + 1)).toThrow(
      expect.objectContaining({
        code: 'KVAD_E_REFERENCE_TOO_SLOW',
        message: expect.stringMatching(/models\/large.*300000001.*300000000/) as string,
        hint: expect.stringContaining('--allow-reference') as string,
      }) as Error,
    );
  });
});
