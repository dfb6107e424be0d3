import { createHash, type Hash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { KvadError } from '../errors/kvad-error.js';
import type { CachedRepo } from './cache-layout.js';
import type { HubClient, HubFile } from './client.js';
import { modelName, type HubModel } from './model-id.js';

export interface DownloadRequest {
  readonly client: HubClient;
  readonly repo: CachedRepo;
  /** As the user named it, for messages. */
  readonly model: HubModel;
  readonly commit: string;
  readonly file: HubFile;
  /** Bytes of the file that lie on the disk now. */
  onProgress(bytes: number): void;
}

/** Times that a file with a wrong checksum is fetched. */
const TRIES = 2;

/**
 * Makes the blob of a file, which gets its name only when its checksum is right. What comes goes to `<hash>.incomplete`,
 * the name that Python takes too; one that is there is gone on with. Throws KVAD_E_HUB_*.
 */
export const downloadFile = async (request: DownloadRequest): Promise<void> => {
  const { repo, model, file } = request;
  const incomplete = `${repo.blob(file.hash.digits)}.incomplete`;
  for (let tries = 1; ; tries++) {
    const digits = await fetchInto(incomplete, request);
    if (digits === file.hash.digits) {
      await rename(incomplete, repo.blob(file.hash.digits));
      return;
    }
    await rm(incomplete, { force: true });
    if (tries < TRIES) continue;
    const found = { model: modelName(model), file: file.path, expected: file.hash.digits, found: digits };
    throw new KvadError('KVAD_E_HUB_CHECKSUM', found);
  }
};

/** The hash of what the file is to hold, of `bytes` that are to come. Git hashes the length first. */
const startHash = ({ hash, bytes }: HubFile): Hash =>
  hash.kind === 'sha256' ? createHash('sha256') : createHash('sha1').update(`blob ${bytes}\0`);

/** Whether a file of the cache holds what its name says. */
export const hasContent = async (path: string, file: HubFile, signal?: AbortSignal): Promise<boolean> =>
  statSync(path, { throwIfNoEntry: false })?.size === file.bytes &&
  (await hashFile(path, startHash(file), signal)).digest('hex') === file.hash.digits;

const hashFile = async (path: string, hash: Hash, signal?: AbortSignal): Promise<Hash> => {
  for await (const part of createReadStream(path, { highWaterMark: 2 ** 20, ...(signal && { signal }) })) {
    hash.update(part as Buffer);
  }
  return hash;
};

/** Fills `path` up to the file's length and returns the hash of all of it. */
const fetchInto = async (path: string, request: DownloadRequest): Promise<string> => {
  const { client, model, commit, file, onProgress } = request;
  const { requests } = client;
  const target = { model, file: file.path };
  const url = client.fileAddress({ id: model.id, revision: commit }, file.path);
  const handle = await open(path, 'a+');
  try {
    let { size } = await handle.stat();
    const restart = async (): Promise<Hash> => {
      await handle.truncate(0);
      size = 0;
      return startHash(file);
    };
    let hash = size > file.bytes ? await restart() : await hashFile(path, startHash(file), requests.signal);
    onProgress(size);
    while (size < file.bytes) {
      await requests.retrying(target, async (progress) => {
        const headers = { range: `bytes=${size}-`, 'accept-encoding': 'identity' };
        const init = size === 0 ? { headers: { 'accept-encoding': 'identity' } } : { headers };
        const response = await requests.fetch(target, url, init, [416]);
        // 416: what lies here is longer than the file there; 200: the host does not know ranges.
        if (size > 0 && (response.status !== 206 || firstByte(response) !== size)) hash = await restart();
        if (response.status === 416) return void (await response.body?.cancel());
        for await (const part of response.body ?? []) {
          if (size + part.length > file.bytes) {
            await restart();
            const reason = `it sends more than the ${file.bytes} bytes that it lists`;
            const answer = { what: `${file.path} of ${modelName(model)}`, host: requests.host, reason };
            throw new KvadError('KVAD_E_HUB_ANSWER', answer);
          }
          await handle.appendFile(part);
          hash.update(part);
          size += part.length;
          progress();
          onProgress(size);
        }
        if (size < file.bytes) throw new Error(`the connection ended after ${size} of ${file.bytes} bytes`);
      });
    }
    await handle.sync();
    return hash.digest('hex');
  } finally {
    await handle.close();
  }
};

const firstByte = (response: Response): number =>
  Number(/^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1] ?? NaN);
