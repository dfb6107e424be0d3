/** Generated from cli-error.schema.json by `npm run generate`: change that file. */

/**
 * What a command with --json prints on stderr when it fails: one line.
 */
export interface CliError {
  object: 'kvad.error';
  code: string;
  /**
   * one sentence, with the value and the file
   */
  message: string;
  /**
   * one action
   */
  hint: string;
  docs: string;
}
