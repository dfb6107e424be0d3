import { createHash } from 'node:crypto';
import { endianness } from 'node:os';

const SWAPPED = endianness() === 'BE';

/** Integers as little-endian bytes, without a copy where the machine has them so. */
export const int32Bytes = (values: Int32Array): Buffer => {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return SWAPPED ? Buffer.from(bytes).swap32() : bytes;
};

export const littleEndianInt32 = (chunks: readonly Buffer[]): Int32Array => {
  const values = new Int32Array(chunks.reduce((bytes, chunk) => bytes + chunk.length, 0) / 4);
  const target = Buffer.from(values.buffer);
  let at = 0;
  for (const chunk of chunks) at += chunk.copy(target, at);
  if (SWAPPED) target.swap32();
  return values;
};

/** Of ids as little-endian 32-bit integers, whatever the machine's own order. */
export const hashIds = (ids: Int32Array): string => createHash('sha256').update(int32Bytes(ids)).digest('hex');
