import { statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { KvadError } from '@kvad/core';

/** The model that ships with kvad. */
export const BUNDLED_MODEL = fileURLToPath(new URL('../model', import.meta.url));

const HUB_ID = /^[A-Za-z0-9][\w.-]*\/[\w.-]+(@[\w./-]+)?$/;

/** The folder that a model argument names; absent: the bundled model. Throws KVAD_E_MODEL_NOT_FOUND. */
export const modelFolder = (model: string | null | undefined, workingDirectory: string): string => {
  if (model === null || model === undefined) return BUNDLED_MODEL;
  const folder = path.resolve(workingDirectory, model);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return folder;
  throw new KvadError('KVAD_E_MODEL_NOT_FOUND', { model, ...whyNot(model, found !== undefined) });
};

const whyNot = (model: string, exists: boolean): { reason: string; hint: string } => {
  if (exists)
    return { reason: 'it is a file, not a folder', hint: 'name the folder that holds config.json and the weights' };
  if (HUB_ID.test(model)) {
    return {
      reason: 'no folder has that name, and this version does not fetch models from the Hub (kvad pull comes later)',
      hint: `download the files of ${model} into a folder, and name that folder`,
    };
  }
  return {
    reason: 'no folder has that name',
    hint: 'name a folder that holds config.json and the weights, or leave it out for the bundled model',
  };
};
