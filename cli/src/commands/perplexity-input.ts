import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { KvadError, type ScoringInput } from '@kvad/core';
import type { Io } from '../io/io.js';
import { fileError, readStdin } from '../io/read-input.js';
import { interruptible } from './interruptible.js';
import { readTokenFile } from './token-file.js';

/** What is scored: the ids of `--tokens`, or the text. Throws KVAD_E_FILE, KVAD_E_INPUT_*. */
export const readScoringInput = async (
  io: Io,
  file: string | undefined,
  { tokens, parseSpecial }: { readonly tokens?: string | undefined; readonly parseSpecial: boolean },
): Promise<ScoringInput> => {
  if (tokens !== undefined) return { ids: await readTokenFile(io, tokens) };
  return { text: await interruptible(io.interrupt, readScoredText(io, file ?? '-')), parseSpecial };
};

/** One newline at its end is dropped, as llama-perplexity does. Bytes that are no text would be scored as U+FFFD. */
const readScoredText = async (io: Io, file: string): Promise<string> => {
  if (file === '-') return readStdin(io);
  const bytes = await readBytes(path.resolve(io.cwd, file), file);
  if (!isUtf8(bytes)) {
    throw new KvadError('KVAD_E_INPUT_SHAPE', { file, found: 'bytes that are not UTF-8', expected: 'a text in UTF-8' });
  }
  return bytes.toString('utf8').replace(/\n$/, '');
};

const readBytes = async (resolved: string, file: string): Promise<Buffer> => {
  try {
    return await readFile(resolved);
  } catch (cause) {
    throw fileError('read', file, cause);
  }
};
