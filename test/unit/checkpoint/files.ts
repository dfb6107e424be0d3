import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isKvadError, type KvadError } from '@kvad/core';
import { type TensorBytes, safetensorsBytes } from '@kvad/core/testing';
import { onTestFinished } from 'vitest';

/** A folder that is gone after the test, with these files in it. */
export const folderOf = (files: Readonly<Record<string, Uint8Array | string>> = {}): string => {
  const folder = mkdtempSync(join(tmpdir(), 'kvad-checkpoint-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
};

/** A safetensors file with any header, right or wrong. */
export const fileWithHeader = (header: unknown, dataBytes = 0): Uint8Array => {
  const json = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const file = new Uint8Array(8 + json.length + dataBytes);
  new DataView(file.buffer).setBigUint64(0, BigInt(json.length), true);
  file.set(json, 8);
  return file;
};

export const f32 = (shape: readonly number[], values?: readonly number[]): TensorBytes => {
  const count = shape.reduce((a, b) => a * b, 1);
  const data = Float32Array.from(values ?? Array.from({ length: count }, (_, i) => i));
  return { dtype: 'F32', shape, bytes: new Uint8Array(data.buffer) };
};

/** A tensor of any type, all bytes zero. */
export const zeros = (dtype: string, shape: readonly number[], bytes: number): TensorBytes => ({
  dtype,
  shape,
  bytes: new Uint8Array(bytes),
});

export const fileOf = (tensors: Readonly<Record<string, TensorBytes>>): Uint8Array => safetensorsBytes(tensors);

/** The error that an action throws; fails if it throws none, or another kind. */
export const refusal = (action: () => unknown): KvadError => {
  try {
    action();
  } catch (error) {
    if (isKvadError(error)) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};
