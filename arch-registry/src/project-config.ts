import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { KvadError } from '@kvad/core';
import type { KvadConfig } from '@kvad/schemas';
import { schemaCheck } from './schema-problem.js';

export const PROJECT_CONFIG = 'kvad.config.json';

/** A project's kvad.config.json and where it lies. */
export interface ProjectConfig {
  readonly file: string;
  readonly config: KvadConfig;
}

/** The nearest kvad.config.json from a folder upwards; null: none. Throws KVAD_E_PROJECT_CONFIG where it is not valid. */
export const findProjectConfig = (workingDirectory: string): ProjectConfig | null => {
  const folder = foldersUpwards(workingDirectory).find((candidate) => existsSync(path.join(candidate, PROJECT_CONFIG)));
  if (folder === undefined) return null;
  const file = path.join(folder, PROJECT_CONFIG);
  const config = parse(file);
  const problem = schemaCheck('kvad-config')(config);
  if (problem !== null) throw new KvadError('KVAD_E_PROJECT_CONFIG', { file, reason: problem });
  return { file, config: config as KvadConfig };
};

/** A folder and those above it, the nearest first. */
export const foldersUpwards = (folder: string): string[] => {
  const above = path.dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersUpwards(above)];
};

const parse = (file: string): unknown => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new KvadError('KVAD_E_PROJECT_CONFIG', { file, reason }, { cause: error });
  }
};
