import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readTensors, safetensorsBytes, type TensorBytes } from '@kvad/core/testing';
import { afterAll } from 'vitest';
import { roundToF16 } from '../../../core/dist/kernels/half.js';

const at = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** The model that ships with kvad: the scoring models have its tokenizer. */
export const BUNDLED = at('../cli/model');
export const SCORING = at('fixtures/scoring');

/**
 * The folder of scoring goldens as it was made: what the repository need not hold twice (tokenizers, the bundled model,
 * the degraded one) is put where the expected files look for it. It is gone after the tests of the file.
 */
export const scoringFolder = (): string => {
  const root = mkdtempSync(path.join(tmpdir(), 'kvad-scoring-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  const folder = path.join(root, 'scoring');
  cpSync(SCORING, folder, { recursive: true });
  symlinkSync(BUNDLED, path.join(root, 'bundled'), 'dir');
  for (const name of ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json']) {
    cpSync(path.join(BUNDLED, name), path.join(folder, 'model', name));
  }
  degrade(path.join(folder, 'model'), path.join(folder, 'model-degraded'));
  return folder;
};

/** Matrices of the layers in 4 bits: a published rule, so that the result need not lie in the repository. */
const degrade = (model: string, degraded: string): void => {
  mkdirSync(degraded);
  cpSync(model, degraded, { recursive: true });
  const tensors = [...readTensors(path.join(model, 'model.safetensors'))].map(([name, tensor]) => {
    const rounded = name.includes('.layers.') && tensor.shape.length === 2;
    return [name, rounded ? fourBits(tensor) : tensor] as const;
  });
  const file = path.join(degraded, 'model.safetensors');
  rmSync(file);
  writeFileSync(file, safetensorsBytes(Object.fromEntries(tensors), { format: 'pt' }));
};

const BLOCK = 32;

/** d = float16(signed extreme / -8); value = d · clamp(round(x / d), -8, 7) */
const fourBits = ({ bytes, ...tensor }: TensorBytes): TensorBytes => {
  const values = new Float32Array(bytes.slice().buffer);
  for (let start = 0; start < values.length; start += BLOCK) {
    const block = values.subarray(start, start + BLOCK);
    const extreme = block.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
    const d = roundToF16(Math.fround(extreme / -8));
    block.forEach((value, index) => {
      block[index] = d * Math.max(-8, Math.min(7, d === 0 ? 0 : nearestEven(Math.fround(value / d))));
    });
  }
  return { ...tensor, bytes: new Uint8Array(values.buffer) };
};

const nearestEven = (value: number): number => {
  const rounded = Math.round(value);
  return Math.abs(value % 1) === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
};

/** `expected-*.json` of the fixtures. */
export const expectedValues = <T>(name: string): T => JSON.parse(readFileSync(path.join(SCORING, name), 'utf8')) as T;
