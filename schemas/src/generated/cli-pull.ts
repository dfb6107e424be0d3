/** Generated from cli-pull.schema.json by `npm run generate`: change that file. */

/**
 * `kvad pull MODEL --json`
 */
export interface CliPull {
  object: 'kvad.pull';
  /**
   * owner/name
   */
  model: string;
  /**
   * as it was asked for; null: main
   */
  revision: string | null;
  commit: string;
  /**
   * the snapshot: what the model is loaded from
   */
  folder: string;
  /**
   * the Hub was not asked: offline, or a commit that is whole
   */
  from_cache: boolean;
  /**
   * of all files
   */
  bytes: number;
  fetched_bytes: number;
  files: PulledFile[];
  /**
   * files of the repository that no run needs
   */
  left_out: HubFileSize[];
}
export interface PulledFile {
  /**
   * in the repository
   */
  path: string;
  bytes: number;
  state: 'fetched' | 'there';
}
export interface HubFileSize {
  /**
   * in the repository
   */
  path: string;
  bytes: number;
}
