import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { jsonText, type Io } from '../io/io.js';
import { fileError } from '../io/read-input.js';

/** Writes a JSON document to a file, which appears under its name when it is complete. Throws KVAD_E_FILE. */
export const writeOutput = async (io: Io, file: string, value: unknown): Promise<void> => {
  const resolved = path.resolve(io.cwd, file);
  const temporary = `${resolved}.${process.pid}.new`;
  try {
    await writeFile(temporary, jsonText(value));
    await rename(temporary, resolved);
  } catch (cause) {
    throw fileError('write', file, cause);
  }
};
