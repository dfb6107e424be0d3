/** Generated from cli-render.schema.json by `npm run generate`: change that file. */

/**
 * `kvad render --json`
 */
export interface CliRender {
  object: 'kvad.render';
  /**
   * folder of the checkpoint
   */
  model: string;
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
