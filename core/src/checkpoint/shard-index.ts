import { KvadError } from '../errors/kvad-error.js';
import { duplicateKey } from './duplicate-keys.js';
import { excerpt } from './excerpt.js';
import type { ByteSource } from './read.js';

/** `model.safetensors.index.json`: which file holds which tensor. */
export interface ShardIndex {
  readonly file: string;
  /** Tensor name to file name. */
  readonly weightMap: ReadonlyMap<string, string>;
  /** Distinct file names, sorted. */
  readonly shards: readonly string[];
  /** Bytes of all tensors, where the index says so. */
  readonly totalSize: number | null;
}

export const INDEX_NAME = 'model.safetensors.index.json';

/** Larger indexes are refused before they are parsed. */
const INDEX_CAP_BYTES = 64 * 2 ** 20;

/** Reads and checks an index. Throws KVAD_E_SAFETENSORS_INDEX. */
export const readShardIndex = (source: ByteSource): ShardIndex => {
  const { file, size } = source;
  const refuse = (reason: string, cause?: unknown): never => {
    throw new KvadError('KVAD_E_SAFETENSORS_INDEX', { file, reason }, { cause });
  };
  if (size > INDEX_CAP_BYTES) return refuse(`it has ${size} bytes, the limit is ${INDEX_CAP_BYTES}`);
  let text: string;
  let parsed: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(source.read(0, size));
    parsed = JSON.parse(text);
  } catch (error) {
    return refuse(`it is not JSON: ${error instanceof Error ? error.message : String(error)}`, error);
  }
  const twice = duplicateKey(text);
  if (twice !== null) return refuse(`it has the key "${twice}" twice`);
  const { weight_map: weightMap, metadata } = asObject(parsed) ?? {};
  const entries = Object.entries(asObject(weightMap) ?? {});
  if (entries.length === 0) return refuse('it has no "weight_map" with tensors');
  for (const [tensor, shard] of entries) {
    const problem = problemOfName(shard);
    if (problem !== null) return refuse(`it puts tensor "${tensor}" into ${excerpt(shard)}, ${problem}`);
  }
  const totalSize = asObject(metadata)?.['total_size'];
  return {
    file,
    weightMap: new Map(entries as [string, string][]),
    shards: [...new Set(entries.map(([, shard]) => shard as string))].sort(),
    totalSize: typeof totalSize === 'number' ? totalSize : null,
  };
};

const asObject = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;

/** A shard is a file of the same folder: an index cannot lead out of it. */
const problemOfName = (shard: unknown): string | null => {
  if (typeof shard !== 'string') return 'which is not a file name';
  if (/[/\\\0]/.test(shard)) return 'which is not a file of the same folder';
  if (!shard.endsWith('.safetensors')) return 'which is not a safetensors file';
  return null;
};
