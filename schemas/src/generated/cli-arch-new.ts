/** Generated from cli-arch-new.schema.json by `npm run generate`: change that file. */

/**
 * `kvad arch new NAME --json`
 */
export interface CliArchNew {
  object: 'kvad.arch-new';
  /**
   * of the package
   */
  name: string;
  model_type: string;
  directory: string;
  /**
   * paths in the directory
   */
  files: string[];
}
