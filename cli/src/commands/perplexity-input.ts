import path from 'node:path';
import type { ScoringInput } from '@kvad/core';
import type { Io } from '../io/io.js';
import { readStdin } from '../io/read-input.js';
import { interruptible } from './interruptible.js';
import { readTokenFile } from './token-file.js';

/** What is scored: the ids of `--tokens`, or the text. Throws KVAD_E_FILE, KVAD_E_INPUT_*. */
export const readScoringInput = async (
  io: Io,
  file: string | undefined,
  { tokens, parseSpecial }: { readonly tokens?: string | undefined; readonly parseSpecial: boolean },
): Promise<ScoringInput> => {
  if (tokens !== undefined) return { ids: Float64Array.from(await readTokenFile(io, tokens)) };
  if (file === undefined || file === '-')
    return { text: await interruptible(io.interrupt, readStdin(io)), parseSpecial };
  return { file: path.resolve(io.cwd, file), parseSpecial };
};
