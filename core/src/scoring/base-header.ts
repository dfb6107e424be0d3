import type { Protocol } from './base.js';
import type { BaseModel } from './types.js';

/** kvad's base: magic, uint32 version, uint32 length of the JSON, the JSON padded with spaces to 8 bytes, rows. */
export const BASE_MAGIC = 'kvad-kld';
export const BASE_VERSION = 1;
export const BASE_PREFIX_BYTES = 16;

/** What the JSON says. */
export interface BaseHeader {
  readonly tokens: number;
  readonly token_ids_sha256: string;
  readonly method: string;
  readonly ctx: number;
  readonly stride: number | null;
  readonly chunks: number | null;
  readonly windows: number;
  readonly scored_tokens: number;
  readonly bos: number | null;
  readonly top_k: number;
  readonly vocab_size: number;
  readonly vocabulary_sha256: string | null;
  readonly model: {
    readonly directory: string;
    readonly fingerprint: string;
    readonly quant: string | null;
    readonly kv_cache_dtype: string;
    readonly kernels: string;
  };
}

export const baseHeader = (protocol: Protocol, topK: number, model: BaseModel): BaseHeader => ({
  tokens: protocol.ids.length,
  token_ids_sha256: protocol.idsSha256,
  method: protocol.method,
  ctx: protocol.ctx,
  stride: protocol.stride,
  chunks: protocol.chunks,
  windows: protocol.windows,
  scored_tokens: protocol.scoredTokens,
  bos: protocol.bos,
  top_k: topK,
  vocab_size: protocol.vocabSize,
  vocabulary_sha256: protocol.vocabularySha256,
  model: {
    directory: model.directory,
    fingerprint: model.fingerprint,
    quant: model.quant,
    kv_cache_dtype: model.kvCacheDtype,
    kernels: model.kernels,
  },
});

export const encodeHeader = (header: BaseHeader): Buffer => {
  const json = JSON.stringify(header);
  const length = Math.ceil(Buffer.byteLength(json) / 8) * 8;
  const bytes = Buffer.alloc(BASE_PREFIX_BYTES + length, ' ');
  bytes.write(BASE_MAGIC, 0, 'latin1');
  bytes.writeUInt32LE(BASE_VERSION, 8);
  bytes.writeUInt32LE(length, 12);
  bytes.write(json, BASE_PREFIX_BYTES);
  return bytes;
};

/** The header in its JSON, or what is wrong with it. */
export const decodeHeader = (json: Buffer): BaseHeader | { readonly reason: string } => {
  let value: unknown;
  try {
    value = JSON.parse(json.toString());
  } catch (error) {
    return { reason: `its header is not JSON: ${(error as Error).message}` };
  }
  const header = value as BaseHeader;
  const counts = ['tokens', 'ctx', 'windows', 'scored_tokens', 'top_k', 'vocab_size'] as const;
  const wrong = isRecord(value)
    ? counts.find((key) => !Number.isSafeInteger(header[key]) || header[key] < 0)
    : 'the whole';
  if (wrong !== undefined) return { reason: `its header has no ${wrong} that is a count` };
  return isRecord(header.model) ? header : { reason: 'its header has no model' };
};

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
