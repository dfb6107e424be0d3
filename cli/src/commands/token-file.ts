import { KvadError } from '@kvad/core';
import { readJsonInput } from '../io/read-input.js';
import type { Io } from '../io/io.js';

const EXPECTED = 'a JSON array of token ids, or an object with such an array as "ids"';

/** Token ids out of a file: `[1, 2]`, or what `kvad tokenize --json` prints. Throws KVAD_E_FILE, KVAD_E_INPUT_*. */
export const readTokenFile = async (io: Io, file: string): Promise<number[]> => {
  const content = await readJsonInput(io, file);
  const refuse = (found: string): never => {
    throw new KvadError('KVAD_E_INPUT_SHAPE', { file, found, expected: EXPECTED });
  };
  const ids: unknown = Array.isArray(content) ? content : (content as { ids?: unknown } | null)?.ids;
  if (!Array.isArray(ids)) return refuse('something else');
  if (ids.length === 0) refuse('no ids');
  const wrong = ids.findIndex((id) => !Number.isSafeInteger(id) || (id as number) < 0);
  if (wrong >= 0) refuse(`${JSON.stringify(ids[wrong])} at place ${wrong}`);
  return ids as number[];
};
