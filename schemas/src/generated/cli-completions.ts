/** Generated from cli-completions.schema.json by `npm run generate`: change that file. */

/**
 * `kvad completions SHELL --json`
 */
export interface CliCompletions {
  object: 'kvad.completions';
  shell: 'bash' | 'zsh' | 'fish';
  script: string;
}
