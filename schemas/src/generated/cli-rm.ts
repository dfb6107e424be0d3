/** Generated from cli-rm.schema.json by `npm run generate`: change that file. */

/**
 * `kvad rm MODEL --json`
 */
export interface CliRm {
  object: 'kvad.rm';
  /**
   * owner/name
   */
  model: string;
  /**
   * null: all of the model
   */
  revision: string | null;
  /**
   * what was deleted
   */
  folder: string;
  commits: string[];
  /**
   * that were freed
   */
  bytes: number;
  /**
   * files of quantised weights that were deleted too
   */
  quantised: string[];
}
