/** Generated from cli-render.schema.json by `npm run generate`: change that file. */

/**
 * `kvad render --json`
 */
export interface CliRender {
  object: 'kvad.render';
  /**
   * owner/name[@revision] as it was given, or the folder
   */
  model: string;
  /**
   * folder of the checkpoint
   */
  folder: string;
  /**
   * where the template came from
   */
  template: string;
  prompt: string;
  count: number | null;
  /**
   * null: the model has no tokenizer
   */
  ids: number[] | null;
}
