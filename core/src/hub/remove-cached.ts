import { readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { KvadError } from '../errors/kvad-error.js';
import { CachedRepo, inCache } from './cache-layout.js';
import { commitsOf, findSnapshot } from './find-snapshot.js';
import { cachedModel, filesBelow, refsOf } from './list-cached.js';
import { cacheName, modelName, type HubModel } from './model-id.js';
import { withPullLock } from './pull-lock.js';

/** What would be deleted, and then was. */
export interface Removal {
  readonly model: HubModel;
  /** The folder of the model, or of one snapshot. */
  readonly folder: string;
  /** Of the blobs that nothing else needs. */
  readonly bytes: number;
  readonly commits: readonly string[];
}

/**
 * What deleting a model frees: all of it, or of one revision the snapshot and the blobs that no other snapshot links
 * to. Throws KVAD_E_HUB_NOT_CACHED, KVAD_E_HUB_REVISION_ABSENT.
 */
export const planRemoval = (cache: string, model: HubModel): Removal => {
  const found = cachedModel(cache, model.id);
  if (found === null) throw new KvadError('KVAD_E_HUB_NOT_CACHED', { model: modelName(model), folder: cache });
  const commits = found.snapshots.map(({ commit }) => commit);
  if (model.revision === null) return { model, folder: found.folder, bytes: found.bytes, commits };
  const snapshot = findSnapshot(cache, model, { whole: false });
  if (snapshot === null) throw new KvadError('KVAD_E_HUB_NOT_CACHED', { model: modelName(model), folder: cache });
  const freed = unsharedBlobs(new CachedRepo(cache, model.id), snapshot.commit);
  const bytes = freed.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
  return { model, folder: snapshot.folder, bytes, commits: [snapshot.commit] };
};

/** Deletes it, while no other kvad downloads the model. Throws KVAD_E_HUB_CACHE. */
export const removeCached = (cache: string, { model, commits }: Removal, signal?: AbortSignal): Promise<void> =>
  inCache(cache, () =>
    withPullLock(cache, model.id, { signal }, async () => {
      const repo = new CachedRepo(cache, model.id);
      const all = model.revision === null || commitsOf(repo).every((commit) => commits.includes(commit));
      if (all) {
        rmSync(repo.folder, { recursive: true, force: true });
        const locks = path.join(cache, '.locks', cacheName(model.id));
        for (const name of readdirSync(locks)) if (!name.startsWith('kvad-')) rmSync(path.join(locks, name));
        return;
      }
      for (const commit of commits) removeSnapshot(repo, commit);
    }),
  );

const removeSnapshot = (repo: CachedRepo, commit: string): void => {
  const blobs = unsharedBlobs(repo, commit);
  // Names first: what is interrupted leaves blobs that nobody names, not names without content.
  for (const [name, named] of refsOf(repo)) if (named === commit) rmSync(path.join(repo.refs, ...name.split('/')));
  rmSync(repo.snapshot(commit), { recursive: true, force: true });
  rmSync(path.join(repo.folder, '.no_exist', commit), { recursive: true, force: true });
  for (const blob of blobs) rmSync(blob, { force: true });
};

/** Blobs that a snapshot links to and no other one. */
const unsharedBlobs = (repo: CachedRepo, commit: string): string[] => {
  const others = commitsOf(repo).filter((other) => other !== commit);
  const shared = new Set(others.flatMap((other) => blobsOf(repo, other)));
  return blobsOf(repo, commit).filter((blob) => !shared.has(blob));
};

const blobsOf = (repo: CachedRepo, commit: string): string[] => [
  ...new Set(
    filesBelow(repo.snapshot(commit)).flatMap((file) => {
      try {
        const blob = realpathSync(file);
        // A link could lead anywhere: what lies outside of the blobs is not the cache's to delete.
        return path.dirname(blob) === realpathSync(repo.blobs) ? [blob] : [];
      } catch {
        return []; // a link that leads nowhere
      }
    }),
  ),
];
