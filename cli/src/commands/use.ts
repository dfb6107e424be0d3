import { KvadError } from '@kvad/core';
import type { CliUse } from '@kvad/schemas';
import { readDefaultModel, stateFile, writeDefaultModel } from '../default-model.js';
import { writeJson, writeLine, type Io } from '../io/io.js';
import { fileError } from '../io/read-input.js';
import { warn } from '../io/warn.js';
import { findModel, placesOf } from '../model-folder.js';
import type { Action } from './actions.js';

/** `kvad use [MODEL]`: keeps the choice, or shows it. A choice that is gone is refused by name. */
export const use: Action<'use'> = async (io, { args, options }) => {
  if (options.bundled && args.model !== undefined) {
    throw new KvadError('KVAD_E_USAGE', { problem: '--bundled and a model contradict each other', command: 'use' });
  }
  if (options.bundled) keep(io, null);
  else if (args.model !== undefined) {
    const found = findModel(args.model, placesOf(io));
    for (const warning of found.warnings) await warn(io, warning);
    keep(io, found.id ?? found.folder);
  }
  const model = readDefaultModel(io.env);
  const { folder } = findModel(null, placesOf(io), 'text');
  const source = model === null ? 'bundled' : 'user';
  const object: CliUse = { object: 'kvad.use', model, folder, source, file: stateFile(io.env) };
  if (options.json) await writeJson(io.stdout, object);
  else await writeLine(io.stdout, `the default model is ${model ?? 'the bundled one'}\n${folder}`);
  return 0;
};

const keep = (io: Io, model: string | null): void => {
  try {
    writeDefaultModel(io.env, model);
  } catch (error) {
    throw fileError('write', stateFile(io.env), error);
  }
};
