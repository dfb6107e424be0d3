import { readdirSync, statSync } from 'node:fs';
import { KvadError } from '../errors/kvad-error.js';
import { CachedRepo } from './cache-layout.js';
import { isCommit, isShortCommit, MAIN, modelName, type HubModel } from './model-id.js';
import { snapshotState } from './snapshot-state.js';

/** A model in the cache. */
export interface CachedSnapshot {
  readonly model: HubModel;
  readonly commit: string;
  /** The folder that it is loaded from. */
  readonly folder: string;
  /** What a user should know of how it was found. */
  readonly warnings: readonly string[];
}

/**
 * The snapshot of a model, from the cache alone: `revision` is a branch or tag that was fetched, a commit, or the first
 * digits of one; absent: main, or the only snapshot that is there. null: nothing of the model is in the cache.
 * `whole`: a snapshot that lacks files of a run is refused. Throws KVAD_E_HUB_REVISION_ABSENT, KVAD_E_HUB_INCOMPLETE.
 */
export const findSnapshot = (cache: string, model: HubModel, { whole }: { whole: boolean }): CachedSnapshot | null => {
  const repo = new CachedRepo(cache, model.id);
  const commits = commitsOf(repo);
  if (commits.length === 0) return null;
  const { commit, warnings } = choose(repo, model, commits);
  const folder = repo.snapshot(commit);
  if (whole) {
    const { missing, damaged } = snapshotState(folder);
    if (missing.length + damaged.length > 0) {
      throw new KvadError('KVAD_E_HUB_INCOMPLETE', { model: modelName(model), folder, missing, damaged });
    }
  }
  return { model, commit, folder, warnings };
};

/** Commits that have a snapshot folder, sorted. */
export const commitsOf = (repo: CachedRepo): string[] => {
  let names: string[];
  try {
    names = readdirSync(repo.snapshots);
  } catch {
    return []; // nothing was ever fetched, or what is there is no cache
  }
  return names
    .filter((name) => isCommit(name) && statSync(repo.snapshot(name), { throwIfNoEntry: false })?.isDirectory())
    .sort();
};

const choose = (
  repo: CachedRepo,
  model: HubModel,
  commits: readonly string[],
): Pick<CachedSnapshot, 'commit' | 'warnings'> => {
  const { id, revision } = model;
  const wanted = revision ?? MAIN;
  const named = repo.readRef(wanted);
  if (named !== null && commits.includes(named)) return { commit: named, warnings: [] };
  if (commits.includes(wanted)) return { commit: wanted, warnings: [] };
  const starting = isShortCommit(wanted) ? commits.filter((commit) => commit.startsWith(wanted)) : [];
  if (starting.length === 1) return { commit: starting[0]!, warnings: [] };
  if (revision === null && named === null && commits.length === 1) {
    const commit = commits[0]!;
    return {
      commit,
      warnings: [`the cache does not say what ${MAIN} of ${id} is: its only snapshot ${commit} is used`],
    };
  }
  throw new KvadError('KVAD_E_HUB_REVISION_ABSENT', { model: id, revision: wanted, known: commits });
};
