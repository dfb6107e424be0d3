import { existsSync } from 'node:fs';
import type { WeightData } from '../../kernels/tensor.js';
import { openBytes, type ByteSource } from '../read.js';
import {
  ALIGNMENT,
  difference,
  FORMAT_VERSION,
  MAGIC,
  MAX_HEADER_BYTES,
  PREFIX_BYTES,
  type QuantEntry,
  type QuantHeader,
  type QuantIdentity,
} from './layout.js';

/** The matrices of a cache by key, as views of the mapped file. */
export interface QuantCache {
  find(key: string): WeightData | null;
  close(): void;
}

/** A cache that can be used; or the reason why it has to be written anew, null where there was none. */
export type OpenedQuantCache =
  { readonly cache: QuantCache; readonly stale: null } | { readonly cache: null; readonly stale: string | null };

export const openQuantCache = (file: string, wanted: QuantIdentity): OpenedQuantCache => {
  if (!existsSync(file)) return { cache: null, stale: null };
  const source = openBytes(file);
  const header = readHeader(source);
  const stale = typeof header === 'string' ? header : difference(header.identity, wanted);
  if (stale !== null || typeof header === 'string') {
    source.close();
    return { cache: null, stale };
  }
  const entries = new Map(Object.entries(header.entries));
  const find = (key: string): WeightData | null => {
    const entry = entries.get(key);
    if (entry === undefined) return null;
    return {
      dtype: entry.precision === 'q8' ? 'Q8' : 'Q4',
      shape: entry.shape,
      bytes: source.read(entry.offset, entry.length),
    };
  };
  return { cache: { find, close: () => source.close() }, stale: null };
};

/** The header, or what is wrong with the file. */
export const readHeader = (source: ByteSource): QuantHeader | string => {
  if (source.size < PREFIX_BYTES) return 'it is cut short';
  const prefix = source.read(0, PREFIX_BYTES);
  if (MAGIC.some((byte, i) => prefix[i] !== byte)) return `it is not of format version ${FORMAT_VERSION}`;
  const view = new DataView(prefix.buffer, prefix.byteOffset, PREFIX_BYTES);
  const [start, length] = [Number(view.getBigUint64(8, true)), Number(view.getBigUint64(16, true))];
  if (start < PREFIX_BYTES || length > MAX_HEADER_BYTES || start + length !== source.size) return 'it is cut short';
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(source.copy(start, length)));
  } catch {
    return 'its header is damaged'; // whatever it is, the file is made again
  }
  return isHeader(header, start) ? header : 'its header is damaged';
};

const isHeader = (value: unknown, end: number): value is QuantHeader => {
  const { identity, entries } = (value ?? {}) as Partial<QuantHeader>;
  if (typeof identity !== 'object' || typeof entries !== 'object' || entries === null) return false;
  return Object.values(entries).every((entry) => isEntry(entry, end));
};

const isEntry = ({ shape, precision, offset, length }: Partial<QuantEntry>, end: number): boolean =>
  Array.isArray(shape) &&
  (precision === 'q8' || precision === 'q4') &&
  Number.isSafeInteger(offset) &&
  Number.isSafeInteger(length) &&
  offset! >= PREFIX_BYTES &&
  offset! % ALIGNMENT === 0 &&
  offset! + length! <= end;
