import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { chooseWeightFiles } from '../checkpoint/folder.js';
import { HEADER_CAP_BYTES } from '../checkpoint/header.js';
import { openBytes } from '../checkpoint/read.js';
import { INDEX_NAME, readShardIndex } from '../checkpoint/shard-index.js';
import { isKvadError } from '../errors/kvad-error.js';
import type { HubClient, HubFile } from './client.js';
import type { HubModel } from './model-id.js';

/** What was loaded of a model. */
export interface FetchedHeaders {
  readonly commit: string;
  /** Bytes of the files that were asked for. */
  readonly bytes: number;
}

/** Requests at a time. */
const AT_ONCE = 8;

const LENGTH_BYTES = 8;

/** What an entry of a header has beside the name: dtype, shape, two offsets. */
const ENTRY_BYTES = 96;

/** Asked for where no index says how many tensors a file has. */
const FIRST_BYTES = 16_384;

/**
 * Makes an empty folder look like a model of the Hub without loading its weights: config.json and the index as they
 * are, of safetensors files the headers alone, followed by a hole as long as the rest (so that their sizes are right),
 * all other files as holes. What reads the headers of a folder then reads those of a model that is not here.
 */
export const fetchHeaders = async (client: HubClient, model: HubModel, folder: string): Promise<FetchedHeaders> => {
  const commit = await client.commitOf(model);
  const pinned = { ...model, revision: commit };
  const files = (await client.listFiles(pinned, commit)).filter((file) => !file.path.includes('/'));
  let bytes = 0;
  for (const file of files) {
    if (file.path === 'config.json' || file.path === INDEX_NAME) {
      writeFileSync(path.join(folder, file.path), await client.fetchText(pinned, file.path));
      bytes += file.bytes;
    } else {
      writeSparse(path.join(folder, file.path), new Uint8Array(0), file.bytes);
    }
  }
  const lengths = headerLengths(folder);
  const queue = files.filter((file) => lengths.has(file.path));
  const work = async (): Promise<void> => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      const header = await fetchHeader(client, pinned, file, lengths.get(file.path)!);
      writeSparse(path.join(folder, file.path), header, file.bytes);
      bytes += header.length;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { commit, bytes };
};

/** `weightFiles`; none where they cannot be told, which is for the reader of the folder to say. */
const headerLengths = (folder: string): Map<string, number> => {
  try {
    return weightFiles(folder);
  } catch (error) {
    if (isKvadError(error)) return new Map(); // as said above
    throw error;
  }
};

/** The files that hold the weights, each with the bytes that its header probably has. */
const weightFiles = (folder: string): Map<string, number> => {
  const { index, files } = chooseWeightFiles(folder);
  if (index === null) return new Map(files.map((name) => [name, FIRST_BYTES]));
  const source = openBytes(path.join(folder, index));
  try {
    const lengths = new Map<string, number>();
    for (const [tensor, shard] of readShardIndex(source).weightMap) {
      lengths.set(shard, (lengths.get(shard) ?? LENGTH_BYTES) + tensor.length + ENTRY_BYTES);
    }
    return lengths;
  } finally {
    source.close();
  }
};

/** Length and header of a safetensors file; a header that is none is for the reader of the folder to refuse. */
const fetchHeader = async (client: HubClient, model: HubModel, file: HubFile, guess: number): Promise<Uint8Array> => {
  if (file.bytes === 0) return new Uint8Array(0);
  const first = await client.fetchRange(model, file.path, 0, Math.min(guess, file.bytes));
  if (first.length < LENGTH_BYTES) return first;
  const told = new DataView(first.buffer, first.byteOffset).getBigUint64(0, true);
  if (told > BigInt(HEADER_CAP_BYTES)) return first;
  const length = Math.min(LENGTH_BYTES + Number(told), file.bytes);
  if (length <= first.length) return first;
  const rest = await client.fetchRange(model, file.path, first.length, length);
  return Buffer.concat([first, rest]);
};

/** A file of that size with these bytes at its start; the rest takes no space. */
const writeSparse = (file: string, start: Uint8Array, size: number): void => {
  const descriptor = openSync(file, 'w');
  try {
    writeSync(descriptor, start);
    ftruncateSync(descriptor, size);
  } finally {
    closeSync(descriptor);
  }
};
