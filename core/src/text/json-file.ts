import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KvadError } from '../errors/kvad-error.js';
import { isObject, type RawConfig } from '../plan/config-source.js';

/** In the files of a model, null is as good as absent. */
export const isNothing = (value: unknown): value is null | undefined => value === null || value === undefined;

/**
 * The JSON object of a file in a model's folder; null where there is no such file.
 * Throws KVAD_E_TEXT_FILE for a file that cannot be read, is no JSON, or holds something else than an object.
 */
export const readJsonObject = async (directory: string, name: string): Promise<RawConfig | null> => {
  const text = await readTextFile(directory, name);
  return text === null ? null : parseJsonObject(text, join(directory, name));
};

/** The text of a file in a model's folder; null where there is no such file. Throws KVAD_E_TEXT_FILE. */
export const readTextFile = async (directory: string, name: string): Promise<string | null> => {
  const file = join(directory, name);
  try {
    return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    if (isAbsent(error)) return null;
    throw new KvadError('KVAD_E_TEXT_FILE', { file, reason: (error as Error).message }, { cause: error });
  }
};

const parseJsonObject = (text: string, file: string): RawConfig => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new KvadError('KVAD_E_TEXT_FILE', { file, reason: (error as Error).message }, { cause: error });
  }
  if (!isObject(value)) throw new KvadError('KVAD_E_TEXT_FILE', { file, reason: 'it does not hold a JSON object' });
  return value;
};

/** ENOTDIR: the folder that should hold the file is a file itself. */
const isAbsent = (error: unknown): boolean => {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ENOTDIR';
};
