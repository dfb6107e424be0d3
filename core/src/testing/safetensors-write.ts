import { writeFileSync } from 'node:fs';

/** A tensor to be written, or as a small file was read. `bytes` little endian, row-major. */
export interface TensorBytes {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** Data begins at a multiple of this, as the reference implementation pads its header. */
const ALIGNMENT = 8;

/** The bytes of a safetensors file with these tensors, in this order. */
export const safetensorsBytes = (
  tensors: Readonly<Record<string, TensorBytes>>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array => {
  const header: Record<string, unknown> = Object.keys(metadata).length > 0 ? { __metadata__: metadata } : {};
  let end = 0;
  for (const [name, { dtype, shape, bytes }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [end, end + bytes.length] };
    end += bytes.length;
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  const length = Math.ceil(json.length / ALIGNMENT) * ALIGNMENT;
  const file = new Uint8Array(8 + length + end);
  new DataView(file.buffer).setBigUint64(0, BigInt(length), true);
  file.fill(0x20, 8, 8 + length);
  file.set(json, 8);
  let at = 8 + length;
  for (const { bytes } of Object.values(tensors)) {
    file.set(bytes, at);
    at += bytes.length;
  }
  return file;
};

/** Writes a small safetensors file: the whole of it is made in memory. */
export const writeSafetensors = (
  file: string,
  tensors: Readonly<Record<string, TensorBytes>>,
  metadata: Readonly<Record<string, string>> = {},
): void => writeFileSync(file, safetensorsBytes(tensors, metadata));
