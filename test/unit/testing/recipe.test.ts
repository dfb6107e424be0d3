import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeWeights, readTensors, type TensorBytes, writeSafetensors } from '@kvad/core/testing';
import { openCheckpoint } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { folderOf, refusal } from '../checkpoint/files.js';

const FIXTURES = 'test/fixtures';
const PUBLISHED = '../shared/fixtures';
const SAFETENSORS = /\.safetensors$/;

/** Folders of all fixtures that hold a recipe in place of their weights. */
const recipes = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('weights.recipe.json'))
  .map((path) => path.replace(/.weights\.recipe\.json$/, '').replaceAll('\\', '/'))
  .sort();

/** All weights of a folder. */
const weightsOf = (folder: string): ReadonlyMap<string, TensorBytes> => {
  const files = readdirSync(folder).filter((name) => SAFETENSORS.test(name) && name !== 'reference.safetensors');
  return new Map(files.flatMap((name) => [...readTensors(join(folder, name))]));
};

/** SHA-256 over names, types, shapes and bytes, in the order of the names. */
const digest = (tensors: ReadonlyMap<string, TensorBytes>): string => {
  const hash = createHash('sha256');
  for (const name of [...tensors.keys()].sort()) {
    const { dtype, shape, bytes } = tensors.get(name)!;
    hash.update(`${name} ${dtype} ${shape.join('x')}\n`).update(bytes);
  }
  return hash.digest('hex');
};

describe('weights made from a recipe', () => {
  const digests = JSON.parse(readFileSync(join(FIXTURES, 'weights-digests.json'), 'utf8')) as Record<string, string>;

  it('are known for every fixture', () => {
    expect(recipes.length).toBeGreaterThan(100);
    expect(Object.keys(digests).sort()).toEqual(recipes);
  });

  it('are byte for byte the published ones: every tensor of every fixture', { timeout: 120_000 }, () => {
    const folder = folderOf();
    const different: string[] = [];
    for (const name of recipes) {
      const target = join(folder, name.replaceAll('/', '-'));
      makeWeights(join(FIXTURES, name, 'weights.recipe.json'), target);
      const made = weightsOf(target);
      if (digest(made) !== digests[name]) different.push(name);
      // Beside a checkout that has the published files, the tensors themselves are compared, and named.
      const published = join(PUBLISHED, name);
      if (!existsSync(published)) continue;
      const wanted = weightsOf(published);
      expect([...made.keys()].sort()).toEqual([...wanted.keys()].sort());
      for (const [tensor, { dtype, shape, bytes }] of wanted) {
        const same = made.get(tensor)!;
        const equal = same.dtype === dtype && `${same.shape}` === `${shape}` && Buffer.compare(same.bytes, bytes) === 0;
        if (!equal) different.push(`${name}: ${tensor}`);
      }
    }
    expect(different).toEqual([]);
  });

  it('of several files are shards with an index', () => {
    const folder = folderOf({
      'weights.recipe.json': JSON.stringify({
        seed: 1,
        tensors: [
          ['a', 'F32', [2, 3], 0, 1, 'model-00001-of-00002.safetensors'],
          ['b', 'F16', [4], 1, 0.5, 'model-00002-of-00002.safetensors'],
          ['ids', 'torch.int64', [2], [7, -1], null, 'model-00002-of-00002.safetensors'],
        ],
      }),
    });
    makeWeights(join(folder, 'weights.recipe.json'), folder);
    const checkpoint = openCheckpoint(folder);
    expect(checkpoint.warnings).toEqual([]);
    expect([...checkpoint.tensors.values()].map(({ name, dtype, shape }) => [name, dtype, shape])).toEqual([
      ['a', 'F32', [2, 3]],
      ['b', 'F16', [4]],
      ['ids', 'I64', [2]],
    ]);
    expect([...new BigInt64Array(checkpoint.read('ids').bytes.slice().buffer)]).toEqual([7n, -1n]);
    const a = [...new Float32Array(checkpoint.read('a').bytes.slice().buffer)];
    expect(new Set(a).size).toBe(6);
    expect(a.every((value) => value >= -1 && value < 1)).toBe(true);
    checkpoint.close();
  });

  it.each([
    ['no recipe', '{"tensors":[]}', 'it has no "seed" and "tensors"'],
    [
      'a type that no recipe has',
      '{"seed":1,"tensors":[["a","F64",[1],0,1,"model.safetensors"]]}',
      'tensor a has dtype F64',
    ],
  ])('are refused where the file is %s', (_, content, message) => {
    const folder = folderOf({ 'weights.recipe.json': content });
    const error = refusal(() => makeWeights(join(folder, 'weights.recipe.json'), folder));
    expect(error.code).toBe('KVAD_E_FIXTURE');
    expect(error.message).toContain(message);
  });
});

describe('small safetensors files', () => {
  it('are read as they were written', () => {
    const folder = folderOf();
    mkdirSync(join(folder, 'deep'));
    const file = join(folder, 'deep', 'x.safetensors');
    const tensors = {
      'b.weight': { dtype: 'F32', shape: [1, 2], bytes: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8) },
      a: { dtype: 'U8', shape: [], bytes: Uint8Array.of(9) },
      empty: { dtype: 'BF16', shape: [0, 4], bytes: new Uint8Array(0) },
    };
    writeSafetensors(file, tensors, { format: 'pt' });
    expect(Object.fromEntries(readTensors(file))).toEqual(tensors);
  });
});
