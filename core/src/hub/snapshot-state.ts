import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { weightFilesAmong } from '../checkpoint/folder.js';
import { INDEX_NAME } from '../checkpoint/shard-index.js';
import { isKvadError } from '../errors/kvad-error.js';

/** What a snapshot lacks of a run. */
export interface SnapshotState {
  readonly missing: readonly string[];
  /** Links whose blob is gone. */
  readonly damaged: readonly string[];
}

/** Looks at names and links alone; what the files hold is checked when they are opened. */
export const snapshotState = (folder: string): SnapshotState => {
  const names = readdirSync(folder);
  const damaged = names.filter((name) => isBroken(path.join(folder, name)));
  const has = (name: string): boolean => names.includes(name);
  const missing = has('config.json') ? [] : ['config.json'];
  if (has(INDEX_NAME) && !damaged.includes(INDEX_NAME)) {
    missing.push(...shardsOf(path.join(folder, INDEX_NAME)).filter((name) => !has(name)));
  } else if (!has(INDEX_NAME)) {
    missing.push(...missingWeights(folder, names));
  }
  return { missing, damaged };
};

const isBroken = (file: string): boolean =>
  lstatSync(file).isSymbolicLink() && statSync(file, { throwIfNoEntry: false }) === undefined;

const missingWeights = (folder: string, names: readonly string[]): readonly string[] => {
  try {
    weightFilesAmong(folder, names);
    return [];
  } catch (error) {
    if (isKvadError(error) && error.code === 'KVAD_E_SAFETENSORS_SHARD_MISSING') {
      return (error.params as { shards: readonly string[] }).shards;
    }
    return ['weights (*.safetensors)'];
  }
};

/** The names that an index puts tensors into; an index that cannot be read is refused when the model is opened. */
const shardsOf = (file: string): string[] => {
  try {
    const { weight_map: map } = JSON.parse(readFileSync(file, 'utf8')) as { weight_map?: Record<string, unknown> };
    return [...new Set(Object.values(map ?? {}))].filter((name) => typeof name === 'string');
  } catch {
    return [];
  }
};
