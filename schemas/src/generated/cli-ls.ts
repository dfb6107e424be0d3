/** Generated from cli-ls.schema.json by `npm run generate`: change that file. */

/**
 * `kvad ls --json`
 */
export interface CliLs {
  object: 'kvad.ls';
  /**
   * the model cache
   */
  folder: string;
  /**
   * of all models on the disk; snapshots share files
   */
  bytes: number;
  models: CachedSnapshotEntry[];
}
export interface CachedSnapshotEntry {
  id: string;
  commit: string;
  /**
   * branches and tags that name it
   */
  refs: string[];
  folder: string;
  /**
   * of the files of this snapshot
   */
  bytes: number;
  model_type: string | null;
  /**
   * instruct: it has a chat template; null: it has no config
   */
  kind: 'instruct' | 'base' | null;
  whole: boolean;
  missing: string[];
  /**
   * links whose content is gone
   */
  damaged: string[];
  runs: RunsHere;
  /**
   * commands take it where no model is named
   */
  default: boolean;
}
export interface RunsHere {
  able: boolean;
  /**
   * the best that fits into the memory of this machine; null: nothing does, or the size is not known
   */
  precision: 'as stored' | 'q8' | 'q4' | null;
  /**
   * why it does not run, or why no precision is told
   */
  reason: string | null;
}
