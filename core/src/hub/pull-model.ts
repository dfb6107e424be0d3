import { mkdirSync, readFileSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { KvadError } from '../errors/kvad-error.js';
import { CachedRepo, inCache } from './cache-layout.js';
import { chooseFiles, shardsIn } from './choose-files.js';
import type { HubClient, HubFile } from './client.js';
import { downloadFile, hasContent } from './download-file.js';
import { findSnapshot } from './find-snapshot.js';
import { isCommit, MAIN, modelName, type HubModel } from './model-id.js';
import { withPullLock } from './pull-lock.js';

/** How far a download is, over all of its files. */
export interface PullProgress {
  readonly bytes: number;
  readonly totalBytes: number;
  readonly files: number;
  readonly totalFiles: number;
}

export interface PullOptions {
  /** Read every byte of files that are there already, and fetch anew what is damaged. */
  readonly verify?: boolean;
  onProgress?(progress: PullProgress): void;
  /** Another process downloads this model; it is waited for. */
  onLocked?(process: number): void;
}

export interface PulledFile {
  readonly path: string;
  readonly bytes: number;
}

export interface PullResult {
  readonly model: HubModel;
  readonly commit: string;
  /** The snapshot folder. */
  readonly folder: string;
  readonly files: readonly (PulledFile & { readonly state: 'fetched' | 'there' })[];
  /** Files of the repository that no run needs. */
  readonly leftOut: readonly PulledFile[];
  /** False: the cache answered, without the Hub. */
  readonly asked: boolean;
}

/** Files that are fetched at the same time. */
const AT_ONCE = 4;

/**
 * Downloads what a run of a model needs into the cache: small files first, then weights, several at a time. Each blob
 * gets its name when its checksum is right; the branch or tag is written last, so that a run before that uses what was
 * there. Offline, and for a commit that is whole, the cache alone answers. Throws KVAD_E_HUB_*.
 */
export const pullModel = async (client: HubClient, model: HubModel, options: PullOptions = {}): Promise<PullResult> => {
  const { cache, offline } = client.requests.settings;
  const settled = model.revision !== null && isCommit(model.revision) && options.verify !== true;
  if (offline || settled) {
    const found = cached(cache, model);
    if (found !== null) return found;
  }
  const commit = await client.commitOf(model);
  const listed = await client.listFiles(model, commit);
  const chosen = chooseFiles(model, listed);
  return inCache(cache, async () => {
    const { signal } = client.requests;
    const onWait = options.onLocked;
    prepare(cache);
    return withPullLock(cache, model.id, { signal, onWait }, async () => {
      const pull = new Pull(client, model, commit, options);
      const { index } = chosen;
      await pull.fetch([...chosen.texts, ...(index === null ? [] : [index])]);
      const weights = index === null ? chosen.weights : shardsIn(model, pull.read(index), listed);
      await pull.fetch(weights);
      pull.repo.writeRef(model.revision ?? MAIN, commit);
      const paths = new Set(pull.files.map((file) => file.path));
      const leftOut = listed
        .filter((file) => !paths.has(file.path))
        .map(({ path: name, bytes }) => ({ path: name, bytes }));
      return { model, commit, folder: pull.repo.snapshot(commit), files: pull.files, leftOut, asked: true };
    });
  });
};

/** null: the model is not whole in the cache. */
const cached = (cache: string, model: HubModel): PullResult | null => {
  try {
    const found = findSnapshot(cache, model, { whole: true });
    return found && { model, commit: found.commit, folder: found.folder, files: [], leftOut: [], asked: false };
  } catch {
    return null; // what it lacks is fetched; offline the request says that it cannot be
  }
};

/** One download: its files, and how far it is. */
class Pull {
  readonly repo: CachedRepo;
  readonly files: (PulledFile & { state: 'fetched' | 'there' })[] = [];
  readonly #client: HubClient;
  readonly #model: HubModel;
  readonly #commit: string;
  readonly #options: PullOptions;
  readonly #blobs = new Map<string, Promise<boolean>>();
  readonly #there = new Map<string, number>();
  readonly #failed: unknown[] = [];
  #total = 0;
  #count = 0;

  constructor(client: HubClient, model: HubModel, commit: string, options: PullOptions) {
    this.#client = client;
    this.#model = model;
    this.#commit = commit;
    this.#options = options;
    this.repo = new CachedRepo(client.requests.settings.cache, model.id);
    mkdirSync(this.repo.blobs, { recursive: true });
  }

  read(file: HubFile): string {
    return readFileSync(this.repo.blob(file.hash.digits), 'utf8');
  }

  /** Makes blobs and snapshot entries of files, `AT_ONCE` at a time; the first error stops them all. */
  async fetch(files: readonly HubFile[]): Promise<void> {
    this.#total += files.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#count += files.length;
    this.#refuseWithoutSpace(files);
    const queue = [...files];
    const work = async (): Promise<void> => {
      for (let file = queue.shift(); file !== undefined && this.#failed.length === 0; file = queue.shift()) {
        await this.#fetchOne(file).catch((error: unknown) => this.#failed.push(error));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    this.#throwFirst();
    this.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  #throwFirst(): void {
    if (this.#failed.length > 0) throw this.#failed[0];
  }

  async #fetchOne(file: HubFile): Promise<void> {
    const { requests } = this.#client;
    // Files of equal content share a blob: the first of them makes it.
    const { digits } = file.hash;
    const making = this.#blobs.get(digits) ?? this.#makeBlob(file);
    this.#blobs.set(digits, making);
    const there = await making;
    await this.repo.place(this.#commit, file.path, file.hash.digits, requests.settings.symlinks);
    this.files.push({ path: file.path, bytes: file.bytes, state: there ? 'there' : 'fetched' });
    this.#report(file, file.bytes);
  }

  /** True: it was there. */
  async #makeBlob(file: HubFile): Promise<boolean> {
    if (await this.#isThere(this.repo.blob(file.hash.digits), file)) return true;
    const onProgress = (bytes: number): void => {
      this.#throwFirst();
      this.#report(file, bytes);
    };
    const [client, model, commit] = [this.#client, this.#model, this.#commit];
    await downloadFile({ client, repo: this.repo, model, commit, file, onProgress });
    return false;
  }

  async #isThere(blob: string, file: HubFile): Promise<boolean> {
    if (this.#options.verify === true) {
      if (await hasContent(blob, file, this.#client.requests.signal)) return true;
    } else if (statSync(blob, { throwIfNoEntry: false })?.size === file.bytes) return true;
    await rm(blob, { force: true });
    return false;
  }

  #report(file: HubFile, bytes: number): void {
    this.#there.set(file.path, bytes);
    const sum = [...this.#there.values()].reduce((total, one) => total + one, 0);
    const [totalBytes, totalFiles] = [this.#total, this.#count];
    this.#options.onProgress?.({ bytes: sum, totalBytes, files: this.files.length, totalFiles });
  }

  #refuseWithoutSpace(files: readonly HubFile[]): void {
    const blobs = new Map(files.map((file) => [file.hash.digits, file.bytes]));
    let needed = 0;
    for (const [digits, bytes] of blobs) {
      const blob = this.repo.blob(digits);
      if (sizeOf(blob) !== bytes) needed += Math.max(0, bytes - (sizeOf(`${blob}.incomplete`) ?? 0));
    }
    const folder = this.#client.requests.settings.cache;
    const { bavail, bsize } = statfsSync(folder);
    const free = bavail * bsize;
    if (needed <= free) return;
    const model = modelName(this.#model);
    throw new KvadError('KVAD_E_HUB_NO_SPACE', { model, folder, needed: gigabytes(needed), free: gigabytes(free) });
  }
}

const sizeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.size;

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(2)} GB`;

/** Tells programs that make backups that all of this can be downloaded again, as Python does. */
const prepare = (cache: string): void => {
  mkdirSync(cache, { recursive: true });
  const tag = path.join(cache, 'CACHEDIR.TAG');
  if (sizeOf(tag) !== undefined) return;
  writeFileSync(tag, 'Signature: 8a477f597d28d172789f06886806bc55\n# The model cache of the Hugging Face Hub.\n');
};
