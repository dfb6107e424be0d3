/** Generated from cli-arch-list.schema.json by `npm run generate`: change that file. */

/**
 * `kvad arch list --json`
 */
export interface CliArchList {
  object: 'kvad.arch-list';
  /**
   * where kvad arch add installs
   */
  folder: string;
  plugins: ArchPlugin[];
  broken: ArchBroken[];
  /**
   * model types and parts that several plugins claim: none of them is used
   */
  conflicts: ArchConflict[];
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
export interface ArchBroken {
  name: string;
  origin: 'flag' | 'project' | 'user' | 'bundled';
  because: string;
  code: string;
  reason: string;
}
export interface ArchConflict {
  claim: string;
  plugins: string[];
  /**
   * what to write where
   */
  decide: string;
}
