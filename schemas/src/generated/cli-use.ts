/** Generated from cli-use.schema.json by `npm run generate`: change that file. */

/**
 * `kvad use --json`
 */
export interface CliUse {
  object: 'kvad.use';
  /**
   * owner/name[@revision] or a folder; null: the bundled model
   */
  model: string | null;
  /**
   * what is loaded
   */
  folder: string;
  source: 'user' | 'bundled';
  /**
   * where the choice is kept
   */
  file: string;
}
