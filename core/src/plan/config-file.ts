import { readFileSync } from 'node:fs';
import { KvadError } from '../errors/kvad-error.js';
import { isObject, type RawConfig } from './config-source.js';

/** Reads a config.json. Throws KVAD_E_CONFIG_READ where it is absent, no JSON, or no JSON object. */
export const readConfig = (file: string): RawConfig => {
  const value = parse(file, read(file));
  if (isObject(value)) return value;
  throw new KvadError('KVAD_E_CONFIG_READ', { file, reason: 'it holds no JSON object' });
};

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new KvadError('KVAD_E_CONFIG_READ', { file, reason: messageOf(error) }, { cause: error });
  }
};

const parse = (file: string, text: string): unknown => {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new KvadError('KVAD_E_CONFIG_READ', { file, reason: `it is no JSON: ${messageOf(error)}` }, { cause: error });
  }
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
