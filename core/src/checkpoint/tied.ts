import { KvadError } from '../errors/kvad-error.js';
import { type LazyTensor } from './lazy-tensor.js';
import { sameShape } from './shape.js';

/** Slots that a tied model fills from one tensor. */
export const EMBEDDING_SLOT = 'embedding.tokens.weight';
export const HEAD_SLOT = 'head.weight';

/** A tied model whose file has a head nevertheless. */
export interface TiedCopy {
  readonly directory: string;
  readonly head: { readonly name: string; readonly tensor: LazyTensor };
  readonly embedding: { readonly name: string; readonly tensor: LazyTensor };
}

/**
 * A head beside a tied embedding must be a copy of it: a head of its own would be ignored, and the model would say
 * something else than its authors trained. Throws KVAD_E_WEIGHTS_TIED.
 */
export const requireEqualCopy = ({ directory, head, embedding }: TiedCopy): void => {
  const refuse = (difference: string): never => {
    throw new KvadError('KVAD_E_WEIGHTS_TIED', { directory, head: head.name, embedding: embedding.name, difference });
  };
  const [a, b] = [head.tensor, embedding.tensor];
  if (!sameShape(a.shape, b.shape)) return refuse(`shape [${a.shape.join(', ')}], not [${b.shape.join(', ')}]`);
  if (a.dtype !== b.dtype) return refuse(`stored as ${a.dtype}, not ${b.dtype}`);
  const row = firstDifference(a.bytes(), b.bytes(), a.shape[0] ?? 1);
  if (row !== null) return refuse(`their values differ from row ${row} on`);
};

/** The row of the first byte that differs, or null. */
const firstDifference = (a: Uint8Array, b: Uint8Array, rows: number): number | null => {
  if (Buffer.compare(a, b) === 0) return null;
  const rowBytes = a.length / rows;
  for (let row = 0; row < rows; row++) {
    const start = row * rowBytes;
    const end = start + rowBytes;
    if (Buffer.compare(a.subarray(start, end), b.subarray(start, end)) !== 0) return row;
  }
  return null;
};
