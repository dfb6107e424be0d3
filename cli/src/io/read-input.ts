import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { KvadError } from '@kvad/core/errors';
import type { Io } from './io.js';

/** What `-` stands for, without the newline that the shell put at its end. */
export const readStdin = async (io: Io): Promise<string> => utf8('stdin', await buffer(io.stdin)).replace(/\r?\n$/, '');

/** The text of a file named on the command line; `-` is stdin. Throws KVAD_E_FILE, KVAD_E_INPUT_SHAPE. */
export const readInput = async (io: Io, file: string): Promise<string> => {
  if (file === '-') return readStdin(io);
  const resolved = path.resolve(io.cwd, file);
  const bytes = await readFile(resolved).catch((cause: unknown) => {
    throw fileError('read', file, cause);
  });
  return utf8(file, bytes);
};

/** Bytes that are no UTF-8 are refused: what would stand for them is not what was given. */
const utf8 = (file: string, bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    const found = 'bytes that are not UTF-8';
    throw new KvadError('KVAD_E_INPUT_SHAPE', { file, found, expected: 'a text in UTF-8' }, { cause });
  }
};

/** The JSON of a file named on the command line. Throws KVAD_E_FILE, KVAD_E_INPUT_SHAPE, KVAD_E_INPUT_JSON. */
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
