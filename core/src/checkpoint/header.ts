import { KvadError } from '../errors/kvad-error.js';
import type { StoredTensor } from './checkpoint.js';
import { refuseForeignFile } from './diagnose-file.js';
import { DTYPE_NAMES, dtypeFacts } from './dtypes.js';
import { duplicateKey } from './duplicate-keys.js';
import { excerpt } from './excerpt.js';
import type { ByteSource } from './read.js';
import { elementCount } from './shape.js';

/** The limit of the reference implementation. */
export const HEADER_CAP_BYTES = 100_000_000;

const LENGTH_BYTES = 8;
const OPENING_BRACE = 0x7b;

/** The header of one safetensors file. */
export interface FileHeader {
  readonly tensors: readonly StoredTensor[];
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * Reads and checks the header of a safetensors file:
 *   u64 little endian n | n bytes JSON { name: { dtype, shape, data_offsets } } | data
 * Tensors lie side by side from the header to the end of the file: no hole, no overlap, nothing behind.
 * Throws KVAD_E_SAFETENSORS_*; a file of another format is named.
 * Source: https://github.com/huggingface/safetensors, README, "Format".
 */
export const readHeader = (source: ByteSource): FileHeader => {
  const { file, size } = source;
  if (size < LENGTH_BYTES) {
    refuseForeignFile(source);
    throw new KvadError('KVAD_E_SAFETENSORS_TRUNCATED', { file, size, expected: null });
  }
  const length = new DataView(source.read(0, LENGTH_BYTES).buffer).getBigUint64(0, true);
  if (length > BigInt(HEADER_CAP_BYTES)) {
    refuseForeignFile(source);
    const reason = `its header would have ${length} bytes, the format allows ${HEADER_CAP_BYTES}`;
    throw new KvadError('KVAD_E_SAFETENSORS_HEADER', { file, reason });
  }
  const dataStart = LENGTH_BYTES + Number(length);
  if (dataStart > size) {
    if (size === LENGTH_BYTES || source.read(LENGTH_BYTES, 1)[0] !== OPENING_BRACE) refuseForeignFile(source);
    throw new KvadError('KVAD_E_SAFETENSORS_TRUNCATED', { file, size, expected: dataStart });
  }
  const entries = parseHeader(source, Number(length));
  const metadata = readMetadata(entries.get('__metadata__'), file);
  entries.delete('__metadata__');
  const tensors = [...entries].map(([name, entry]) => readEntry(name, entry, file, dataStart));
  checkLayout(tensors, dataStart, size, file);
  return { tensors, metadata };
};

const parseHeader = (source: ByteSource, length: number): Map<string, unknown> => {
  const { file } = source;
  const bytes = source.copy(LENGTH_BYTES, length);
  if (bytes[0] !== OPENING_BRACE) {
    refuseForeignFile(source);
    throw new KvadError('KVAD_E_SAFETENSORS_HEADER', { file, reason: 'its header does not begin with "{"' });
  }
  let text: string;
  let parsed: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    parsed = JSON.parse(text);
  } catch (error) {
    const reason = `its header is not JSON: ${error instanceof Error ? error.message : String(error)}`;
    throw new KvadError('KVAD_E_SAFETENSORS_HEADER', { file, reason }, { cause: error });
  }
  const twice = duplicateKey(text);
  if (twice !== null) {
    throw new KvadError('KVAD_E_SAFETENSORS_HEADER', { file, reason: `its header has the key "${twice}" twice` });
  }
  // The first byte is "{", so this is an object.
  return new Map(Object.entries(parsed as Record<string, unknown>));
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const readMetadata = (value: unknown, file: string): Record<string, string> => {
  if (value === undefined) return {};
  if (!isObject(value) || Object.values(value).some((text) => typeof text !== 'string')) {
    throw new KvadError('KVAD_E_SAFETENSORS_HEADER', {
      file,
      reason: 'its "__metadata__" is not an object of strings',
    });
  }
  return value as Record<string, string>;
};

const ENTRY_KEYS = ['dtype', 'shape', 'data_offsets'];

const isSizes = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && (size as number) >= 0);

const readEntry = (name: string, entry: unknown, file: string, dataStart: number): StoredTensor => {
  const refuse = (reason: string): never => {
    throw new KvadError('KVAD_E_SAFETENSORS_TENSOR', { file, tensor: name, reason });
  };
  if (!isObject(entry)) return refuse('its entry is not an object');
  const { dtype, shape, data_offsets: offsets } = entry;
  const strange = Object.keys(entry).find((key) => !ENTRY_KEYS.includes(key));
  if (strange !== undefined) return refuse(`its entry has the key "${strange}", which the format does not know`);
  if (typeof dtype !== 'string') return refuse('its dtype is not a string');
  const type = dtypeFacts(dtype);
  if (type === null) return refuse(`its dtype "${dtype}" is none of the format: ${DTYPE_NAMES.join(', ')}`);
  if (!isSizes(shape)) return refuse(`its shape ${excerpt(shape)} is not a list of sizes`);
  if (!isSizes(offsets) || offsets.length !== 2) {
    return refuse(`its data_offsets ${excerpt(offsets)} are not two byte positions`);
  }
  const [begin, end] = offsets as [number, number];
  if (begin > end) return refuse(`its data_offsets ${excerpt(offsets)} end before they begin`);
  const bits = type.bits * elementCount(shape);
  if (!Number.isSafeInteger(bits)) return refuse(`its shape ${excerpt(shape)} is larger than any file`);
  if (bits % 8 !== 0) return refuse(`${dtype} ${excerpt(shape)} does not fill whole bytes`);
  if (bits / 8 !== end - begin) {
    return refuse(`${dtype} ${excerpt(shape)} is ${bits / 8} bytes, its data_offsets hold ${end - begin}`);
  }
  return { name, dtype, shape, file, offset: dataStart + begin, byteLength: end - begin };
};

/** Tensors follow each other without holes and end where the file ends. */
const checkLayout = (tensors: readonly StoredTensor[], dataStart: number, size: number, file: string): void => {
  const inOrder = [...tensors].sort((a, b) => a.offset - b.offset || a.byteLength - b.byteLength);
  let end = dataStart;
  let before: StoredTensor | null = null;
  for (const tensor of inOrder) {
    if (tensor.offset !== end) {
      const what = tensor.offset > end ? 'leaves a hole of' : 'overlaps by';
      const other = before === null ? 'the header' : `tensor "${before.name}"`;
      const reason = `it ${what} ${Math.abs(tensor.offset - end)} bytes with ${other} before it`;
      throw new KvadError('KVAD_E_SAFETENSORS_TENSOR', { file, tensor: tensor.name, reason });
    }
    end += tensor.byteLength;
    before = tensor;
  }
  if (end > size) throw new KvadError('KVAD_E_SAFETENSORS_TRUNCATED', { file, size, expected: end });
  if (end < size) throw new KvadError('KVAD_E_SAFETENSORS_TRAILING', { file, extra: size - end, expected: end });
};
