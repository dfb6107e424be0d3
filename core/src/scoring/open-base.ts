import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { KvadError } from '../errors/kvad-error.js';
import { BASE_MAGIC, BASE_PREFIX_BYTES, BASE_VERSION, decodeHeader, type BaseHeader } from './base-header.js';
import type { Base, BaseComparison, Protocol } from './base.js';
import type { Row } from './divergence.js';
import { compareFull, FULL_MAGIC, FULL_PREFIX_BYTES, fullHeader, fullRowBytes } from './full-format.js';
import { scoringFileError } from './file-error.js';
import { compareTopk, topkRowBytes } from './topk-format.js';

const MAGIC_BYTES = 8;

/**
 * Opens a base, kvad's or llama.cpp's, told by its first bytes. One that was made of other ids, windows, BOS or
 * vocabulary is refused: comparing would give a number that means nothing.
 * Throws KVAD_E_FILE and KVAD_E_KLD_BASE_*.
 */
export const openBase = (file: string, protocol: Protocol): Base => {
  const fd = opened(file);
  try {
    const reader: Reader = { file, fd, size: fstatSync(fd).size };
    const magic = read(reader, 0, Math.min(MAGIC_BYTES, reader.size)).toString('latin1');
    if (magic === BASE_MAGIC) return openTopk(reader, protocol);
    if (magic === FULL_MAGIC) return openFull(reader, protocol);
    const reason = `it begins with ${JSON.stringify(magic)}, expected ${BASE_MAGIC} or ${FULL_MAGIC}`;
    throw new KvadError('KVAD_E_KLD_BASE_INVALID', { file, reason });
  } catch (error) {
    closeSync(fd);
    throw error;
  }
};

interface Reader {
  readonly file: string;
  readonly fd: number;
  readonly size: number;
}

const openTopk = (reader: Reader, protocol: Protocol): Base => {
  const prefix = read(reader, 0, BASE_PREFIX_BYTES);
  const version = prefix.readUInt32LE(8);
  if (version !== BASE_VERSION) {
    throw new KvadError('KVAD_E_KLD_BASE_VERSION', { file: reader.file, version, known: BASE_VERSION });
  }
  const length = prefix.readUInt32LE(12);
  const header = decodeHeader(read(reader, BASE_PREFIX_BYTES, length));
  if ('reason' in header) throw new KvadError('KVAD_E_KLD_BASE_INVALID', { file: reader.file, ...header });
  refuseOther(reader.file, header, protocol);
  const { top_k: topK, model } = header;
  return rows(reader, {
    start: BASE_PREFIX_BYTES + length,
    rowBytes: topkRowBytes(topK),
    count: protocol.scoredTokens,
    compare: (bytes, row) => compareTopk(bytes, topK, row),
    about: {
      format: 'topk',
      topK,
      model: {
        directory: model.directory,
        fingerprint: model.fingerprint,
        quant: model.quant,
        kvCacheDtype: model.kv_cache_dtype,
        kernels: model.kernels,
      },
    },
  });
};

const openFull = (reader: Reader, protocol: Protocol): Base => {
  const { file } = reader;
  const prefix = read(reader, 0, FULL_PREFIX_BYTES);
  const [ctx, vocabSize, windows] = [8, 12, 16].map((at) => prefix.readInt32LE(at)) as [number, number, number];
  if (ctx < 1 || vocabSize < 1 || windows < 1) {
    const reason = `its header names a ctx of ${ctx}, a vocabulary of ${vocabSize} and ${windows} chunks`;
    throw new KvadError('KVAD_E_KLD_BASE_INVALID', { file, reason });
  }
  const other = refusal(file);
  if (protocol.method !== 'chunks') throw other('method', 'chunks', protocol.method, 'pass --method chunks');
  requireSame(other, 'ctx', ctx, protocol.ctx, `pass --ctx ${ctx}`);
  requireSame(other, 'vocabulary size', vocabSize, protocol.vocabSize, OTHER_VOCABULARY);
  requireSame(other, 'number of chunks', windows, protocol.windows, chunksHint(windows, protocol));
  const ids = read(reader, FULL_PREFIX_BYTES, 4 * windows * ctx);
  if (!fullHeader(protocol).subarray(FULL_PREFIX_BYTES).equals(ids)) {
    const at = protocol.ids.findIndex((id, index) => ids.readInt32LE(4 * index) !== id);
    const found = `${ids.readInt32LE(4 * at)} at place ${at}`;
    throw other('token ids', found, String(protocol.ids[at]), OTHER_TEXT);
  }
  return rows(reader, {
    start: FULL_PREFIX_BYTES + ids.length,
    rowBytes: fullRowBytes(vocabSize),
    count: protocol.scoredTokens,
    compare: compareFull,
    about: { format: 'full', topK: null, model: null },
  });
};

interface Rows {
  readonly start: number;
  readonly rowBytes: number;
  readonly count: number;
  compare(bytes: Buffer, row: Row, target: number): BaseComparison;
  readonly about: Pick<Base, 'format' | 'topK' | 'model'>;
}

/** One row is held at a time. */
const rows = (reader: Reader, { start, rowBytes, count, compare, about }: Rows): Base => {
  const expected = start + count * rowBytes;
  if (reader.size !== expected) {
    if (reader.size < expected) throw truncated(reader, expected);
    const reason = `it has ${reader.size} bytes, its header announces ${expected}`;
    throw new KvadError('KVAD_E_KLD_BASE_INVALID', { file: reader.file, reason });
  }
  const bytes = Buffer.alloc(rowBytes);
  return {
    ...about,
    compare: (index, row, target) => {
      readInto(reader, bytes, start + index * rowBytes);
      return compare(bytes, row, target);
    },
    close: () => {
      closeSync(reader.fd);
    },
  };
};

const OTHER_TEXT = 'score the text that the base was made of, with the same --parse-special';
const OTHER_VOCABULARY = 'compare with a base of a model that has the same tokenizer';

const chunksHint = (windows: number, { windows: here }: Protocol): string =>
  windows < here ? `pass --chunks ${windows}` : 'leave --chunks out, or score the text that the base was made of';

type Refusal = (what: string, base: unknown, run: unknown, hint: string) => KvadError;

const refusal =
  (file: string): Refusal =>
  (what, base, run, hint) =>
    new KvadError('KVAD_E_KLD_BASE_OTHER', { file, what, base: words(base), run: words(run), hint });

const words = (value: unknown): string => (value === null ? 'none' : String(value));

const requireSame = (other: Refusal, what: string, base: unknown, run: unknown, hint: string): void => {
  if (base !== run) throw other(what, base, run, hint);
};

const refuseOther = (file: string, header: BaseHeader, protocol: Protocol): void => {
  const other = refusal(file);
  requireSame(other, 'method', header.method, protocol.method, `pass --method ${header.method}`);
  requireSame(other, 'ctx', header.ctx, protocol.ctx, `pass --ctx ${header.ctx}`);
  requireSame(other, 'stride', header.stride, protocol.stride, `pass --stride ${words(header.stride)}`);
  requireSame(other, 'vocabulary size', header.vocab_size, protocol.vocabSize, OTHER_VOCABULARY);
  if (header.vocabulary_sha256 !== null && protocol.vocabularySha256 !== null) {
    requireSame(other, 'vocabulary', header.vocabulary_sha256, protocol.vocabularySha256, OTHER_VOCABULARY);
  }
  requireSame(other, 'BOS', header.bos, protocol.bos, 'compare models whose tokenizers agree on the BOS');
  requireSame(other, 'number of tokens', header.tokens, protocol.ids.length, OTHER_TEXT);
  requireSame(other, 'hash of token ids', header.token_ids_sha256, protocol.idsSha256, OTHER_TEXT);
  requireSame(other, 'number of chunks', header.windows, protocol.windows, chunksHint(header.windows, protocol));
  requireSame(other, 'number of scored tokens', header.scored_tokens, protocol.scoredTokens, OTHER_TEXT);
};

const opened = (file: string): number => {
  try {
    return openSync(file, 'r');
  } catch (cause) {
    throw scoringFileError('read', file, cause);
  }
};

const read = (reader: Reader, position: number, length: number): Buffer => {
  if (position + length > reader.size) throw truncated(reader, position + length);
  const bytes = Buffer.alloc(length);
  readInto(reader, bytes, position);
  return bytes;
};

const readInto = (reader: Reader, bytes: Buffer, position: number): void => {
  for (let done = 0; done < bytes.length;) {
    let count: number;
    try {
      count = readSync(reader.fd, bytes, done, bytes.length - done, position + done);
    } catch (cause) {
      throw scoringFileError('read', reader.file, cause);
    }
    if (count === 0) throw truncated(reader, position + bytes.length);
    done += count;
  }
};

const truncated = ({ file, size }: Reader, expected: number): KvadError =>
  new KvadError('KVAD_E_KLD_BASE_TRUNCATED', { file, bytes: size, expected });
