import { existsSync } from 'node:fs';
import path from 'node:path';
import { KvadError } from '../../errors/kvad-error.js';
import type { WeightData } from '../../kernels/tensor.js';
import { openBytes, type ByteSource } from '../read.js';
import {
  ALIGNMENT,
  difference,
  FORMAT_VERSION,
  MAGIC,
  MAX_HEADER_BYTES,
  PACKED_LAYOUT,
  packedBytes,
  PREFIX_BYTES,
  type QuantEntry,
  type QuantHeader,
  type QuantIdentity,
  type QuantSource,
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
  let source: ByteSource;
  try {
    source = openBytes(file);
  } catch (error) {
    // It has been deleted meanwhile, or is nothing that can be read: the load goes on without it, and says so.
    if (!(error instanceof KvadError)) throw error;
    return { cache: null, stale: existsSync(file) ? (error.cause as Error).message : null };
  }
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
  if (!isObject(value)) return false;
  const { identity, directory, entries } = value;
  if (!isIdentity(identity) || !isObject(entries) || !(directory === undefined || typeof directory === 'string')) {
    return false;
  }
  const all: unknown[] = Object.values(entries);
  if (!all.every((entry): entry is QuantEntry => isEntry(entry, identity))) return false;
  // No matrix lies in another one, nor in the header.
  const inOrder = [...all].sort((a, b) => a.offset - b.offset);
  return inOrder.every((entry, i) => entry.offset + entry.length <= (inOrder[i + 1]?.offset ?? end));
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isPrecision = (value: unknown): value is 'q8' | 'q4' => value === 'q8' || value === 'q4';

const isIdentity = (value: unknown): value is QuantIdentity =>
  isObject(value) &&
  isPrecision(value['precision']) &&
  Number.isSafeInteger(value['layout']) &&
  typeof value['bindings'] === 'string' &&
  Array.isArray(value['sources']) &&
  value['sources'].every(isSource);

const isSource = (value: unknown): value is QuantSource =>
  isObject(value) &&
  typeof value['file'] === 'string' &&
  path.basename(value['file']) === value['file'] &&
  Number.isSafeInteger(value['size']) &&
  typeof value['id'] === 'string';

const isEntry = (value: unknown, { layout }: QuantIdentity): value is QuantEntry => {
  if (!isObject(value)) return false;
  const { shape, precision, offset, length } = value;
  if (!isShape(shape) || !isPrecision(precision) || !isCount(offset) || !isCount(length)) return false;
  if (offset < PREFIX_BYTES || offset % ALIGNMENT !== 0) return false;
  return layout !== PACKED_LAYOUT || length === packedBytes(precision, shape);
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 1;

const isShape = (value: unknown): value is number[] =>
  Array.isArray(value) && (value.length === 2 || value.length === 3) && value.every(isCount);
