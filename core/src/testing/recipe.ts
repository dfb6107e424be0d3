import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { INDEX_NAME } from '../checkpoint/shard-index.js';
import { elementCount } from '../checkpoint/shape.js';
import { KvadError } from '../errors/kvad-error.js';
import { f32ToBf16, f32ToF16 } from '../kernels/half.js';
import { type TensorBytes, writeSafetensors } from './safetensors-write.js';

/** `[name, dtype, shape, mean, scale, file]`; scale null: an integer tensor whose values stand in `mean`. */
export type RecipeTensor = readonly [
  name: string,
  dtype: string,
  shape: readonly number[],
  mean: number | readonly number[],
  scale: number | null,
  file: string,
];

/** The weights of a fixture as a rule, so that a repository need not hold them. */
export interface WeightRecipe {
  readonly seed: number;
  readonly tensors: readonly RecipeTensor[];
}

export const readRecipe = (file: string): WeightRecipe => {
  const recipe = JSON.parse(readFileSync(file, 'utf8')) as Partial<WeightRecipe>;
  if (!Number.isInteger(recipe.seed) || !Array.isArray(recipe.tensors)) {
    throw new KvadError('KVAD_E_FIXTURE', { name: file, reason: 'it has no "seed" and "tensors"' });
  }
  return recipe as WeightRecipe;
};

/** Makes the safetensors files of a recipe in a folder, and the index if they are several. */
export const makeWeights = (recipeFile: string, targetDirectory: string): void => {
  const recipe = readRecipe(recipeFile);
  mkdirSync(targetDirectory, { recursive: true });
  const files = new Map<string, Record<string, TensorBytes>>();
  const weightMap: Record<string, string> = {};
  for (const tensor of recipe.tensors) {
    const [name, , , , , file] = tensor;
    const held = files.get(file) ?? {};
    held[name] = makeTensor(tensor, recipe.seed, recipeFile);
    files.set(file, held);
    weightMap[name] = file;
  }
  let totalSize = 0;
  for (const [file, tensors] of files) {
    writeSafetensors(join(targetDirectory, file), tensors, { format: 'pt' });
    totalSize += Object.values(tensors).reduce((sum, { bytes }) => sum + bytes.length, 0);
  }
  if (files.size > 1) {
    const index = { metadata: { total_size: totalSize }, weight_map: weightMap };
    writeFileSync(join(targetDirectory, INDEX_NAME), JSON.stringify(index, null, 2));
  }
};

/** One tensor of a recipe, as the safetensors file has it. */
export const makeTensor = (tensor: RecipeTensor, seed: number, recipeFile: string): TensorBytes => {
  const [name, dtype, shape, mean, scale] = tensor;
  if (typeof mean !== 'number') return integerTensor(shape, mean);
  const values = recipeValues(name, elementCount(shape), seed, mean, scale ?? 0);
  switch (dtype) {
    case 'F32':
      return { dtype, shape, bytes: bytesOf(values) };
    case 'F16':
      return { dtype, shape, bytes: bytesOf(Uint16Array.from(values, f32ToF16)) };
    case 'BF16':
      return { dtype, shape, bytes: bytesOf(Uint16Array.from(values, f32ToBf16)) };
    default:
      throw new KvadError('KVAD_E_FIXTURE', { name: recipeFile, reason: `tensor ${name} has dtype ${dtype}` });
  }
};

const integerTensor = (shape: readonly number[], values: readonly number[]): TensorBytes => ({
  dtype: 'I64',
  shape,
  bytes: bytesOf(BigInt64Array.from(values, BigInt)),
});

const bytesOf = (values: ArrayBufferView): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

/**
 * Element i is `mean + scale * u(i)`, product and sum each rounded to float32, with
 *   u = (m >> 8) / 2^23 - 1        in [-1, 1), exact in float32
 *   h = FNV-1a-32(name) xor seed
 *   x = i * 0x9E3779B9 + h;  x ^= x >> 16;  x *= 0x7FEB352D;  x ^= x >> 15;  x *= 0x846CA68B;  m = x ^ (x >> 16)
 * all in unsigned 32-bit arithmetic.
 */
const recipeValues = (name: string, count: number, seed: number, mean: number, scale: number): Float32Array => {
  const start = fnv1a(name) ^ seed;
  const centre = Math.fround(mean);
  const width = Math.fround(scale);
  const values = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    let x = Math.imul(i, 0x9e3779b9) + start;
    x ^= x >>> 16;
    x = Math.imul(x, 0x7feb352d);
    x ^= x >>> 15;
    x = Math.imul(x, 0x846ca68b);
    x ^= x >>> 16;
    const u = (x >>> 8) / 2 ** 23 - 1;
    values[i] = centre + Math.fround(width * u);
  }
  return values;
};

const fnv1a = (text: string): number => {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash;
};
