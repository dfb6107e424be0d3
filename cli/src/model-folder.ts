import { statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findSnapshot, hubCacheFolder, isKvadError, KvadError, parseModelId } from '@kvad/core';
import type { Io } from './io/io.js';
import { readDefaultModel, stateFile } from './default-model.js';

/** The model that ships with kvad. */
export const BUNDLED_MODEL = fileURLToPath(new URL('../model', import.meta.url));

/** Where models are looked for. */
export interface ModelPlaces {
  /** Relative folders start here. */
  readonly workingDirectory: string;
  /** Says where the cache of the Hub and the user's choice are. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The places of a command. */
export const placesOf = ({ cwd, env }: Pick<Io, 'cwd' | 'env'>): ModelPlaces => ({ workingDirectory: cwd, env });

/** A model argument, found. */
export interface FoundModel {
  readonly folder: string;
  /** `owner/name[@revision]` where it lies in the cache of the Hub. */
  readonly id: string | null;
  readonly warnings: readonly string[];
}

/** How JSON answers name a model: as it was asked for where it is one of the Hub, and the folder that it lies in. */
export interface NamedModel {
  readonly model: string;
  readonly folder: string;
}

export const namesOf = ({ id, folder }: Pick<FoundModel, 'id' | 'folder'>): NamedModel => ({
  model: id ?? folder,
  folder,
});

/**
 * What a command reads of a model: `weights` asks for all that a run needs, `text` (config, tokenizer, templates) is
 * content with a part of a model of the Hub.
 */
export type Needs = 'weights' | 'text';

/** `findModel`, the folder alone. */
export const modelFolder = (model: string | null | undefined, places: ModelPlaces, needs: Needs = 'weights'): string =>
  findModel(model, places, needs).folder;

/**
 * The model that an argument names: a folder, else a model of the Hub in the cache; absent: what `kvad use` chose, else
 * the bundled model. Opens no socket. Throws KVAD_E_MODEL_NOT_FOUND, KVAD_E_DEFAULT_MODEL_GONE, KVAD_E_HUB_INCOMPLETE,
 * KVAD_E_HUB_REVISION_ABSENT.
 */
export const findModel = (
  model: string | null | undefined,
  places: ModelPlaces,
  needs: Needs = 'weights',
): FoundModel => {
  if (model !== null && model !== undefined) return namedModel(model, places, needs);
  const chosen = readDefaultModel(places.env);
  if (chosen === null) return { folder: BUNDLED_MODEL, id: null, warnings: [] };
  try {
    return namedModel(chosen, places, needs);
  } catch (error) {
    if (!isKvadError(error)) throw error;
    const gone = { model: chosen, file: stateFile(places.env), reason: error.message };
    throw new KvadError('KVAD_E_DEFAULT_MODEL_GONE', gone, { cause: error });
  }
};

const namedModel = (model: string, { workingDirectory, env }: ModelPlaces, needs: Needs): FoundModel => {
  const folder = path.resolve(workingDirectory, model);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return { folder, id: null, warnings: [] };
  const named = parseModelId(model, { bare: true });
  const cache = hubCacheFolder(env);
  const snapshot = named && findSnapshot(cache, named, { whole: needs === 'weights' });
  if (snapshot !== null) return { folder: snapshot.folder, id: model, warnings: snapshot.warnings };
  throw new KvadError('KVAD_E_MODEL_NOT_FOUND', { model, ...whyNot(model, found !== undefined, cache) });
};

const whyNot = (model: string, exists: boolean, cache: string): { reason: string; hint: string } => {
  if (exists)
    return { reason: 'it is a file, not a folder', hint: 'name the folder that holds config.json and the weights' };
  if (parseModelId(model) !== null) {
    return {
      reason: `no folder has that name, and it is not in the model cache ${cache}`,
      hint: `kvad pull ${model} downloads it from the Hub`,
    };
  }
  return {
    reason: 'no folder has that name',
    hint: 'name a folder that holds config.json and the weights, a model of the Hub as owner/name, or leave it out',
  };
};
