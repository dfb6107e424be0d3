import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { KvadError } from '../errors/kvad-error.js';
import { scoringFileError } from './file-error.js';

/**
 * The text of a file, without one newline at its end, as llama-perplexity reads it. Bytes that are no UTF-8 would be scored
 * as U+FFFD. Throws KVAD_E_FILE, KVAD_E_INPUT_SHAPE.
 */
export const readScoredText = async (file: string): Promise<string> => {
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw scoringFileError('read', file, cause);
  });
  if (!isUtf8(bytes)) {
    throw new KvadError('KVAD_E_INPUT_SHAPE', { file, found: 'bytes that are not UTF-8', expected: 'a text in UTF-8' });
  }
  return bytes.toString('utf8').replace(/\n$/, '');
};
