import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { KvadError } from '@kvad/core/errors';
import type { Io } from './io.js';

/** What `-` stands for, without the newline that the shell put at its end. */
export const readStdin = async (io: Io): Promise<string> => (await text(io.stdin)).replace(/\r?\n$/, '');

/** The text of a file named on the command line; `-` is stdin. Throws KVAD_E_FILE. */
export const readInput = async (io: Io, file: string): Promise<string> => {
  if (file === '-') return readStdin(io);
  const resolved = path.resolve(io.cwd, file);
  try {
    return await readFile(resolved, 'utf8');
  } catch (cause) {
    throw fileError('read', file, cause);
  }
};

/** The JSON of a file named on the command line. Throws KVAD_E_FILE, KVAD_E_INPUT_JSON. */
export const readJsonInput = async (io: Io, file: string): Promise<unknown> => {
  const content = await readInput(io, file);
  try {
    return JSON.parse(content) as unknown;
  } catch (cause) {
    throw new KvadError('KVAD_E_INPUT_JSON', { file, reason: (cause as Error).message }, { cause });
  }
};

export const fileError = (action: 'read' | 'write', file: string, cause: unknown): KvadError =>
  new KvadError('KVAD_E_FILE', { action, file, reason: reasonOf(cause as NodeJS.ErrnoException) }, { cause });

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  ENOSPC: 'the disk is full',
};

const reasonOf = (error: NodeJS.ErrnoException): string => REASONS[error.code ?? ''] ?? error.message;
