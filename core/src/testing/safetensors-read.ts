import { readHeader } from '../checkpoint/header.js';
import { openBytes } from '../checkpoint/read.js';
import type { TensorBytes } from './safetensors-write.js';

/** All tensors of one small safetensors file. Throws KVAD_E_SAFETENSORS_*. */
export const readTensors = (file: string): ReadonlyMap<string, TensorBytes> => {
  const source = openBytes(file);
  try {
    return new Map(
      readHeader(source).tensors.map(({ name, dtype, shape, offset, byteLength }) => [
        name,
        { dtype, shape, bytes: source.read(offset, byteLength) },
      ]),
    );
  } finally {
    source.close();
  }
};
