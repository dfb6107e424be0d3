/** Generated from cli-arch-remove.schema.json by `npm run generate`: change that file. */

/**
 * `kvad arch remove NAME --json`
 */
export interface CliArchRemove {
  object: 'kvad.arch-remove';
  name: string;
  /**
   * where it was
   */
  directory: string;
}
