import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isKvadError, type KvadError } from '@kvad/core';
import { onTestFinished } from 'vitest';

/** The model that ships with kvad. */
export const BUNDLED = fileURLToPath(new URL('../../../cli/model', import.meta.url));

export type Json = Record<string, unknown>;
export type Files = Readonly<Record<string, string | Json>>;

/** A folder that is gone after the test; names may have folders in them, objects are written as JSON. */
export const folderOf = (files: Files): string => {
  const folder = makeFolder(files);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** The same, for the caller to remove. */
export const makeFolder = (files: Files): string => {
  const folder = mkdtempSync(join(tmpdir(), 'kvad-text-'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
};

/** A fresh copy of the bundled tokenizer.json, to be spoilt. */
export const bundledTokenizer = (): Json & { model: Json; added_tokens: Json[] } =>
  JSON.parse(readFileSync(join(BUNDLED, 'tokenizer.json'), 'utf8')) as Json & { model: Json; added_tokens: Json[] };

/** The error that an action throws; fails if it throws none, or one that is not of the catalogue. */
export const errorOf = async (action: () => unknown): Promise<KvadError> => {
  try {
    await action();
  } catch (error) {
    if (isKvadError(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};
