import { readFileSync, statSync } from 'node:fs';
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
export const readTextFile = async (directory: string, name: string): Promise<string | null> =>
  readBytes(directory, name)?.toString('utf8') ?? null;

const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf);

/**
 * The bytes of a file in a model's folder, without a byte order mark; null where there is no such file. Read at once:
 * nothing can be done in this thread before it is there. `read` gives those of a path. Throws KVAD_E_TEXT_FILE.
 */
export const readBytes = (
  directory: string,
  name: string,
  read: (file: string) => Buffer = readFileSync,
): Buffer | null => {
  const file = join(directory, name);
  try {
    // Opening a pipe would wait for its writer, in a call that nothing can end.
    if (!statSync(file).isFile()) throw new Error('it is not a file');
    const bytes = read(file);
    return bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? bytes.subarray(3) : bytes;
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
