/** Generated from plugin-manifest.schema.json by `npm run generate`: change that file. */

export type Names = string[];

/**
 * The kvad field of a plugin's package.json: what the plugin brings, known without running its code.
 */
export interface PluginManifest {
  /**
   * version of the plugin interface that it was written for
   */
  apiVersion: number;
  /**
   * module whose default export is the plugin, relative to the package
   */
  entry: string;
  /**
   * folder of the families' config schemas, relative to the package; absent: the folder of entry
   */
  schemas?: string;
  /**
   * each model_type of its families
   */
  modelTypes?: string[];
  parts?: PartLists;
  /**
   * kinds of part that its families name and others bring, by the package that brings them
   */
  needs?: {
    [k: string]: PartLists;
  };
}
/**
 * kinds of part, by axis; in "parts" each kind that the plugin brings
 */
export interface PartLists {
  mixers?: Names;
  feedForwards?: Names;
  routers?: Names;
  sharedExperts?: Names;
  blocks?: Names;
  stacks?: Names;
  inputs?: Names;
  norms?: Names;
  activations?: Names;
}
