import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { CachedRepo } from './cache-layout.js';
import { commitsOf } from './find-snapshot.js';
import { idOfCacheName, isCommit } from './model-id.js';
import { snapshotState, type SnapshotState } from './snapshot-state.js';

/** A model in the cache with all of its snapshots. */
export interface CachedModel {
  readonly id: string;
  /** Its folder in the cache. */
  readonly folder: string;
  /** On the disk, unfinished downloads included. */
  readonly bytes: number;
  readonly snapshots: readonly ListedSnapshot[];
}

export interface ListedSnapshot extends SnapshotState {
  readonly commit: string;
  /** Branches and tags that name it, sorted. */
  readonly refs: readonly string[];
  readonly folder: string;
  /** Of its files; snapshots share those that are equal. */
  readonly bytes: number;
}

/** The models of the cache, by name. A cache that is not there is empty. */
export const listCachedModels = (cache: string): CachedModel[] =>
  namesIn(cache)
    .map((name) => idOfCacheName(name))
    .filter((id) => id !== null)
    .map((id) => cachedModel(cache, id))
    .filter((model) => model !== null)
    .sort((a, b) => (a.id < b.id ? -1 : 1));

/** One model of the cache; null: nothing of it is there. */
export const cachedModel = (cache: string, id: string): CachedModel | null => {
  const repo = new CachedRepo(cache, id);
  if (statSync(repo.folder, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  const refs = refsOf(repo);
  const snapshots = commitsOf(repo).map((commit) => {
    const folder = repo.snapshot(commit);
    const names = [...refs].filter(([, named]) => named === commit).map(([name]) => name);
    return { commit, refs: names.sort(), folder, bytes: bytesIn(folder, statSync), ...snapshotState(folder) };
  });
  return { id, folder: repo.folder, bytes: bytesIn(repo.folder, lstatSync), snapshots };
};

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return []; // no cache yet
  }
};

/** Branch or tag -> commit, those in folders (`refs/pr/1`) too. */
export const refsOf = (repo: CachedRepo): Map<string, string> => {
  const found = new Map<string, string>();
  for (const file of filesBelow(repo.refs)) {
    const commit = readFileSync(file, 'utf8').trim();
    if (isCommit(commit)) found.set(path.relative(repo.refs, file).replaceAll(path.sep, '/'), commit);
  }
  return found;
};

/** Files and links below a folder. */
export const filesBelow = (folder: string): string[] => {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => path.join(entry.parentPath, entry.name));
  } catch {
    return []; // nothing of the kind was ever written
  }
};

/** `stat` follows links, `lstat` counts what lies in the folder itself. A link that leads nowhere holds nothing. */
const bytesIn = (folder: string, stat: typeof statSync | typeof lstatSync): number =>
  filesBelow(folder).reduce((sum, file) => sum + (stat(file, { throwIfNoEntry: false })?.size ?? 0), 0);
