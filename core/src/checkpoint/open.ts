import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { KvadError } from '../errors/kvad-error.js';
import type { Checkpoint, StoredBytes, StoredTensor } from './checkpoint.js';
import { chooseWeightFiles } from './folder.js';
import { readHeader } from './header.js';
import { type ByteSource, openBytes } from './read.js';
import { readShardIndex, type ShardIndex } from './shard-index.js';

/**
 * Opens the safetensors files of a model folder and checks their headers; no weight is read.
 * Throws KVAD_E_MODEL_FOLDER_* and KVAD_E_SAFETENSORS_*.
 */
export const openCheckpoint = (directory: string): Checkpoint => {
  const choice = chooseWeightFiles(directory);
  const sources: ByteSource[] = [];
  const open = (name: string): ByteSource => {
    const source = openBytes(join(directory, name));
    sources.push(source);
    return source;
  };
  try {
    if (choice.index === null) {
      const tensors = mergeFiles(choice.files.map((name) => readHeader(open(name)).tensors));
      return checkpointOf(directory, sources, tensors, unreadFiles(choice.unread));
    }
    const index = withIndexFile(join(directory, choice.index));
    requireShards(directory, index, choice.unread);
    const headers = new Map(index.shards.map((name) => [name, readHeader(open(name)).tensors]));
    const { tensors, warnings } = followIndex(index, headers);
    const unread = choice.unread.filter((name) => !index.shards.includes(name));
    return checkpointOf(directory, sources, tensors, [...unreadFiles(unread), ...warnings]);
  } catch (error) {
    for (const source of sources) source.close();
    throw error;
  }
};

const withIndexFile = (file: string): ShardIndex => {
  const source = openBytes(file);
  try {
    return readShardIndex(source);
  } finally {
    source.close();
  }
};

const requireShards = (directory: string, index: ShardIndex, present: readonly string[]): void => {
  const shards = index.shards.filter((name) => !existsSync(join(directory, name)));
  if (shards.length === 0) return;
  const beside = present.filter((name) => !index.shards.includes(name));
  throw new KvadError('KVAD_E_SAFETENSORS_SHARD_MISSING', { directory, index: index.file, shards, beside });
};

/** The tensors that the index names, each from the shard that it names. */
const followIndex = (
  index: ShardIndex,
  headers: ReadonlyMap<string, readonly StoredTensor[]>,
): { tensors: Map<string, StoredTensor>; warnings: string[] } => {
  const byShard = new Map([...headers].map(([shard, held]) => [shard, new Map(held.map((t) => [t.name, t]))]));
  const tensors = new Map<string, StoredTensor>();
  for (const [name, shard] of index.weightMap) {
    const tensor = byShard.get(shard)?.get(name);
    if (tensor === undefined) {
      const elsewhere = [...byShard].filter(([, held]) => held.has(name)).map(([other]) => other);
      const where = elsewhere.length > 0 ? `which stands in ${elsewhere.join(', ')}` : 'which no shard has';
      const reason = `it puts tensor "${name}" into ${shard}, ${where}`;
      throw new KvadError('KVAD_E_SAFETENSORS_INDEX', { file: index.file, reason });
    }
    tensors.set(name, tensor);
  }
  const warnings: string[] = [];
  const extra = [...headers].flatMap(([shard, held]) =>
    held.filter((tensor) => index.weightMap.get(tensor.name) !== shard).map((tensor) => `${tensor.name} (${shard})`),
  );
  if (extra.length > 0) {
    const some = extra.slice(0, 8).join(', ') + (extra.length > 8 ? ` and ${extra.length - 8} more` : '');
    warnings.push(`${index.file} does not name these tensors of its shards, they are not read: ${some}`);
  }
  const total = [...tensors.values()].reduce((sum, tensor) => sum + tensor.byteLength, 0);
  if (index.totalSize !== null && index.totalSize !== total) {
    warnings.push(`${index.file} tells ${index.totalSize} bytes of tensors, its shards hold ${total}`);
  }
  return { tensors, warnings };
};

/** Shards without an index: no tensor may stand in two of them. */
const mergeFiles = (files: readonly (readonly StoredTensor[])[]): Map<string, StoredTensor> => {
  const tensors = new Map<string, StoredTensor>();
  for (const tensor of files.flat()) {
    const other = tensors.get(tensor.name);
    if (other !== undefined) {
      const reason = `it also stands in ${other.file}, and no index decides`;
      throw new KvadError('KVAD_E_SAFETENSORS_TENSOR', { file: tensor.file, tensor: tensor.name, reason });
    }
    tensors.set(tensor.name, tensor);
  }
  return tensors;
};

const unreadFiles = (names: readonly string[]): string[] =>
  names.length === 0 ? [] : [`beside the weights there are safetensors files that are not read: ${names.join(', ')}`];

const checkpointOf = (
  directory: string,
  sources: readonly ByteSource[],
  tensors: ReadonlyMap<string, StoredTensor>,
  warnings: readonly string[],
): Checkpoint => {
  const byFile = new Map(sources.map((source) => [source.file, source]));
  // While someone holds the bytes of a tensor, its other row slices share them instead of reading it again.
  const held = new Map<string, WeakRef<ArrayBufferLike>>();
  const read = (name: string): StoredBytes => {
    const tensor = tensors.get(name);
    const source = tensor && byFile.get(tensor.file);
    if (tensor === undefined || source === undefined) {
      const reason = `it has no tensor "${name}"`;
      throw new KvadError('KVAD_E_SAFETENSORS_READ', { file: directory, reason });
    }
    const shared = held.get(name)?.deref();
    if (shared !== undefined) return { tensor, bytes: new Uint8Array(shared) };
    const bytes = source.read(tensor.offset, tensor.byteLength);
    if (bytes.byteLength === bytes.buffer.byteLength) held.set(name, new WeakRef(bytes.buffer));
    return { tensor, bytes };
  };
  const close = (): void => {
    for (const source of sources) source.close();
  };
  return { directory, files: sources.map((source) => source.file), tensors, warnings, read, close };
};
