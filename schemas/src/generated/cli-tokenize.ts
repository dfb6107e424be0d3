/** Generated from cli-tokenize.schema.json by `npm run generate`: change that file. */

/**
 * `kvad tokenize --json`
 */
export interface CliTokenize {
  object: 'kvad.tokenize';
  /**
   * owner/name[@revision] as it was given, or the folder
   */
  model: string;
  /**
   * folder of the checkpoint
   */
  folder: string;
  count: number;
  ids: number[];
  tokens: {
    id: number;
    /**
     * as the vocabulary spells it
     */
    token: string | null;
  }[];
  bos: {
    id: number;
    /**
     * the tokenizer puts it before a raw text
     */
    added: boolean;
  } | null;
}
