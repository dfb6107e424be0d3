import { readFileSync, statSync } from 'node:fs';
import { KvadError } from '../errors/kvad-error.js';
import { isObject, type RawConfig } from './config-source.js';

/** Levels of objects and arrays within each other: the configs of published models have fewer than ten. */
const MOST_LEVELS = 64;

/**
 * Reads a config.json. Throws KVAD_E_CONFIG_READ where it is absent, no file, no text in UTF-8, no JSON, no JSON object,
 * or nested so deeply that whoever walks it would run out of stack.
 */
export const readConfig = (file: string): RawConfig => {
  const value = parse(file, read(file));
  if (!isObject(value)) throw new KvadError('KVAD_E_CONFIG_READ', { file, reason: 'it holds no JSON object' });
  if (isDeeper(value, MOST_LEVELS)) {
    const reason = `it is nested in more than ${MOST_LEVELS} levels`;
    throw new KvadError('KVAD_E_CONFIG_READ', { file, reason });
  }
  return value;
};

const isDeeper = (value: unknown, most: number): boolean => {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true;
    level = level.flatMap((at): unknown[] => (typeof at === 'object' && at !== null ? Object.values(at) : []));
  }
  return false;
};

const read = (file: string): string => {
  try {
    // A pipe would be waited for, in a call that nothing can end.
    if (!statSync(file).isFile()) throw new Error('it is no file');
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    throw new KvadError('KVAD_E_CONFIG_READ', { file, reason: messageOf(error) }, { cause: error });
  }
};

const parse = (file: string, text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new KvadError('KVAD_E_CONFIG_READ', { file, reason: `it is no JSON: ${messageOf(error)}` }, { cause: error });
  }
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
