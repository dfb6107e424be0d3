/** Generated from kvad-config.schema.json by `npm run generate`: change that file. */

/**
 * kvad.config.json: the plugins of a project.
 */
export interface KvadConfig {
  $schema?: string;
  /**
   * paths, relative to this file, or names of packages of this project
   */
  plugins?: string[];
  /**
   * which plugin brings what two of them claim: a model type ("acme_lm") or a kind ("mixer:attention") and the plugin's name
   */
  prefer?: {
    [k: string]: string;
  };
}
