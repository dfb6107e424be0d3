/** Generated from cli-cache.schema.json by `npm run generate`: change that file. */

/**
 * `kvad cache --json` and `kvad cache clear --json`
 */
export interface CliCache {
  object: 'kvad.cache';
  /**
   * where the files lie
   */
  folder: string;
  /**
   * of all files that are there
   */
  bytes: number;
  /**
   * those that are there
   */
  files: QuantCacheEntry[];
  /**
   * those that `clear` deleted
   */
  removed: QuantCacheEntry[];
}
export interface QuantCacheEntry {
  /**
   * name in the folder
   */
  file: string;
  model: string;
  precision: 'q8' | 'q4';
  bytes: number;
  state: 'ready' | 'stale' | 'writing' | 'leftover';
  /**
   * why it is stale
   */
  reason: string | null;
  /**
   * folder of the model; null: the file does not say
   */
  directory: string | null;
}
