/** Generated from cli-arch-add.schema.json by `npm run generate`: change that file. */

/**
 * `kvad arch add PLUGIN --json`
 */
export interface CliArchAdd {
  object: 'kvad.arch-add';
  plugin: ArchPlugin;
  /**
   * a plugin of that name was there before
   */
  replaced: boolean;
}
export interface ArchPlugin {
  name: string;
  version: string;
  origin: 'flag' | 'project' | 'user' | 'bundled';
  /**
   * what named it
   */
  because: string;
  directory: string;
  model_types: string[];
  parts: {
    [k: string]: string[];
  };
}
