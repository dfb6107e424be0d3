import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { LibraryName } from './library.js';

const SCRIPT = fileURLToPath(new URL('./trial-process.js', import.meta.url));
const LIMIT_MILLISECONDS = 20_000;

/**
 * Lets another process load a tokenizer.json and encode difficult texts: the tokenizers library ends the whole process
 * on what it did not expect. Returns what it died of, or null if it lives.
 */
export const tryTokenizer = (file: string, library: LibraryName): Promise<string | null> =>
  new Promise((resolve) => {
    const options = { timeout: LIMIT_MILLISECONDS, env: { ...process.env, NODE_OPTIONS: '' }, windowsHide: true };
    execFile(process.execPath, [SCRIPT, file, library], options, (error, _, stderr) => {
      if (error === null) resolve(null);
      else if (error.killed === true) resolve(`short texts take more than ${LIMIT_MILLISECONDS / 1000} seconds`);
      else resolve(panicOf(stderr) ?? `the tokenizers library ended on it (${error.signal ?? `exit ${error.code}`})`);
    });
  });

/** Rust writes `thread '…' panicked at file:line:` and then what went wrong. */
const panicOf = (stderr: string): string | null => {
  const lines = stderr.split('\n').map((line) => line.trim());
  const at = lines.findIndex((line) => line.includes('panicked at'));
  return (at < 0 ? undefined : lines[at + 1]) || null;
};
