import { KvadError } from './kvad-error.js';

/** How errors are written to stderr: as `printError` of the command line does it, with and without `--json`. */
export type ErrorFormat = 'text' | 'json';

/** Stands in a text for a number that is known only when the text is written; `core/native/src/mapping.h` has it too. */
export const LATER = '\u0001';

let format: ErrorFormat = 'text';

/** How this thread's files say that they shrank; `KVAD_ERRORS=json` asks for one line of JSON. */
export const sayErrorsAs = (env: Readonly<Record<string, string | undefined>>): void => {
  format = env['KVAD_ERRORS'] === 'json' ? 'json' : 'text';
};

/**
 * All that a process still writes when a file that it has mapped shrinks under it. No JavaScript runs at that moment, so
 * the text is made when the file is mapped, with a place for the size that it will have.
 */
export const shrankWords = (file: string, opened: number, as: ErrorFormat = format): string => {
  const error = new KvadError('KVAD_E_FILE_SHRANK', { file: file.replaceAll(LATER, '?'), opened, now: LATER });
  const { code, message, hint, docs } = error;
  if (as === 'text') return `error: ${message}\n  hint: ${hint}\n  docs: ${docs} (${code})\n`;
  const line = JSON.stringify({ object: 'kvad.error', code, message, hint, docs });
  return `${line.replace(/(?<!\\)\\u0001/, LATER)}\n`;
};
