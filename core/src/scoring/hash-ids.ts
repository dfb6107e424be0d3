import { createHash } from 'node:crypto';

/** Of ids as little-endian 32-bit integers, whatever the machine's own order. */
export const hashIds = (ids: Int32Array): string => {
  const bytes = Buffer.alloc(ids.length * 4);
  ids.forEach((id, index) => bytes.writeInt32LE(id, index * 4));
  return createHash('sha256').update(bytes).digest('hex');
};
