import { cpSync } from 'node:fs';
import path from 'node:path';
import {
  familyIn,
  fixtureDirectory,
  prefillWhole,
  readReference,
  readTensors,
  TestModel,
  writeSafetensors,
  type TensorBytes,
} from '@kvad/core/testing';
import { describe, expect, it } from 'vitest';
import { opened } from './plugins.js';
import { temporaryFolder } from './temporary-folder.js';

type Tensors = ReadonlyMap<string, TensorBytes>;

/** Modules of a layer by their names in transformers 5, where publishers call them otherwise. */
const RENAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ernie4_5_moe: { 'mlp.moe_statics.': 'mlp.gate.moe_statics.' },
  granitemoe: {
    'input_linear.weight': 'experts.gate_up_proj',
    'output_linear.weight': 'experts.down_proj',
    'router.layer.': 'router.',
  },
  granitemoeshared: {
    'block_sparse_moe.input_linear.weight': 'block_sparse_moe.experts.gate_up_proj',
    'block_sparse_moe.output_linear.weight': 'block_sparse_moe.experts.down_proj',
    'router.layer.': 'router.',
  },
  minimax_m2: { 'block_sparse_moe.': 'mlp.' },
  mixtral: { 'block_sparse_moe.': 'mlp.' },
};

const renamed = (name: string, names: Readonly<Record<string, string>> = {}): string =>
  Object.entries(names).reduce((now, [from, to]) => now.replace(from, to), name);

/** `model.layers.0.mlp.experts.3.w1.weight` */
const EXPERT = /^(.*\.experts)\.(\d+)\.(gate_proj|up_proj|down_proj|w1|w3|w2)\.weight$/;
const MATRIX: Readonly<Record<string, 'gate' | 'up' | 'down'>> = {
  gate_proj: 'gate',
  up_proj: 'up',
  down_proj: 'down',
  w1: 'gate',
  w3: 'up',
  w2: 'down',
};

const joined = (tensors: readonly TensorBytes[], shape: readonly number[]): TensorBytes => ({
  dtype: tensors[0]!.dtype,
  shape,
  bytes: Buffer.concat(tensors.map(({ bytes }) => bytes)),
});

/** Experts of one tensor a matrix each, as two tensors a layer: gate above up, and down. */
const stacked = (tensors: Tensors): Record<string, TensorBytes> => {
  const out: Record<string, TensorBytes> = {};
  const experts = new Map<string, TensorBytes[]>();
  for (const [name, tensor] of tensors) {
    const [, module, expert, matrix] = EXPERT.exec(name) ?? [];
    if (module === undefined) {
      out[name] = tensor;
      continue;
    }
    const list = experts.get(module) ?? [];
    list[3 * Number(expert) + ['gate', 'up', 'down'].indexOf(MATRIX[matrix!]!)] = tensor;
    experts.set(module, list);
  }
  for (const [module, list] of experts) {
    const [size, hidden] = list[0]!.shape as [number, number];
    const of = (keep: (place: number) => boolean): TensorBytes[] => list.filter((_, i) => keep(i % 3));
    out[`${module}.gate_up_proj`] = joined(
      of((place) => place < 2),
      [list.length / 3, 2 * size, hidden],
    );
    out[`${module}.down_proj`] = joined(
      of((place) => place === 2),
      [list.length / 3, hidden, size],
    );
  }
  return out;
};

const rewrite = (type: string, directory: string): string => {
  const target = temporaryFolder(type);
  cpSync(directory, target, { recursive: true });
  const tensors = Object.entries(stacked(readTensors(path.join(directory, 'model.safetensors'))));
  writeSafetensors(
    path.join(target, 'model.safetensors'),
    Object.fromEntries(tensors.map(([name, tensor]) => [renamed(name, RENAMED[type]), tensor])),
  );
  return target;
};

const logitsOf = async (type: string, directory: string): Promise<Float32Array> => {
  const model = TestModel.open({
    under: familyIn(opened, type),
    plugins: opened.map(({ plugin }) => plugin),
    directory,
  });
  try {
    return await prefillWhole(model, readReference(directory).shortIds);
  } finally {
    await model.close();
  }
};

describe('experts in the layout of transformers 5', () => {
  it.each([
    'dots1',
    'ernie4_5_moe',
    'flex_olmo',
    'glm4_moe',
    'granitemoe',
    'granitemoeshared',
    'minimax_m2',
    'mixtral',
    'olmoe',
    'qwen2_moe',
    'qwen3_moe',
  ])('%s gives the same logits as from the published files', async (type) => {
    const published = fixtureDirectory(`moe/${type}`);
    const other = rewrite(type, published);
    const names = [...readTensors(path.join(other, 'model.safetensors')).keys()];
    expect(names.filter((name) => name.endsWith('experts.gate_up_proj'))).not.toEqual([]);
    expect(names.filter((name) => EXPERT.test(name))).toEqual([]);
    expect(await logitsOf(type, other)).toEqual(await logitsOf(type, published));
  });
});
