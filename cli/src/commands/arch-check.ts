import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fetchHeaders, HubClient, hubSettings, isKvadError, modelName, parseModelId, type HubModel } from '@kvad/core';
import type { CliArchCheck } from '@kvad/schemas';
import { writeJson, writeLine, type Io } from '../io/io.js';
import { findModel, placesOf } from '../model-folder.js';
import type { Action } from './actions.js';
import { checkModel, type Checked } from './check-model.js';
import { checkPage } from './check-page.js';
import { interruptible } from './interruptible.js';
import { openRegistry } from './open-registry.js';

/** `kvad arch check MODEL`: a folder, a model of the cache, or one of the Hub, of which only headers are loaded. */
export const archCheck: Action<'arch check'> = async (io, { args, options }) => {
  const registry = openRegistry(io, options.plugin);
  const look = (folder: string): Promise<Checked> => checkModel(folder, registry, { lenient: options.lenient });
  const place = placeOf(args.model, io);
  const checked =
    typeof place === 'string'
      ? { model: place, source: 'folder' as const, bytes_read: null, ...(await look(place)) }
      : await checkRemote(place, io, look);
  const result: CliArchCheck = { object: 'kvad.arch-check', runs: checked.problems.length === 0, ...checked };
  if (options.json) await writeJson(io.stdout, result);
  else await writeLine(io.stdout, checkPage(result, io));
  return result.runs ? 0 : 1;
};

/** What would be said of a model that is not here, or not whole, where the Hub may be asked. */
const NOT_HERE: readonly string[] = ['KVAD_E_MODEL_NOT_FOUND', 'KVAD_E_HUB_INCOMPLETE', 'KVAD_E_HUB_REVISION_ABSENT'];

const placeOf = (model: string, io: Io): string | HubModel => {
  try {
    return findModel(model, placesOf(io)).folder;
  } catch (error) {
    const named = parseModelId(model);
    if (named === null || !isKvadError(error) || !NOT_HERE.includes(error.code)) throw error;
    return named;
  }
};

const checkRemote = async (
  model: HubModel,
  io: Io,
  look: (folder: string) => Promise<Checked>,
): Promise<Omit<CliArchCheck, 'object' | 'runs'>> => {
  const name = modelName(model);
  const folder = mkdtempSync(path.join(tmpdir(), 'kvad-headers-'));
  try {
    const client = new HubClient(hubSettings(io.env), { signal: io.interrupt });
    const { bytes } = await interruptible(io.interrupt, fetchHeaders(client, model, folder));
    const { problems, warnings, ...found } = await look(folder);
    // The headers lie in a temporary folder, which the user has never heard of.
    const named = (text: string): string => text.replaceAll(folder, name);
    return {
      ...{ model: name, source: 'hub', bytes_read: bytes, ...found },
      problems: problems.map(({ code, message, hint }) => ({ code, message: named(message), hint: named(hint) })),
      warnings: warnings.map(named),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
