/** Generated from cli-arch.schema.json by `npm run generate`: change that file. */

/**
 * `kvad arch --json`
 */
export interface CliArch {
  object: 'kvad.arch';
  families: ArchFamily[];
  plugins: ArchPlugin[];
  broken: ArchBroken[];
  /**
   * model types and parts that several plugins claim: none of them is used
   */
  conflicts: ArchConflict[];
}
export interface ArchFamily {
  architecture: string;
  model_type: string;
  about: string;
  reference: string;
  mixers: string[] | null;
  ffns: string[] | null;
  plugin: string;
  origin: 'flag' | 'project' | 'user' | 'bundled';
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
