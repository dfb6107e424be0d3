/** Generated from cli-arch-show.schema.json by `npm run generate`: change that file. */

/**
 * `kvad arch show TYPE --json`
 */
export interface CliArchShow {
  object: 'kvad.arch-show';
  architecture: string;
  model_types: string[];
  about: string;
  reference: string;
  plugin: {
    name: string;
    version: string;
    origin: 'flag' | 'project' | 'user' | 'bundled';
    directory: string;
  };
  mixers: string[] | null;
  ffns: string[] | null;
  config: {
    /**
     * file of the JSON Schema
     */
    schema: string;
    keys: ConfigKey[];
    inert: {
      key: string;
      reason: string;
    }[];
  };
  weights: ShownWeight[];
  unneeded: {
    pattern: string;
    reason: string;
  }[];
  /**
   * the config that the weight names were made with
   */
  weights_of: string;
}
export interface ConfigKey {
  key: string;
  required: boolean;
  default?: unknown;
  type: string;
  about: string | null;
}
export interface ShownWeight {
  slot: string;
  /**
   * the default config has this weight; others are for other values of config keys
   */
  used: boolean;
  sources: {
    tensors: string[];
    transform: string[];
  }[];
}
