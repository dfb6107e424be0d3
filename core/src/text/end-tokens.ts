import { KvadError } from '../errors/kvad-error.js';
import { isNothing } from './json-file.js';

/** A token that ends a generation. */
export interface EndToken {
  readonly id: number;
  readonly token: string | null;
  /** File and key: `generation_config.json eos_token_id`. */
  readonly source: string;
}

/** Where ids of end tokens stand: a number, or a list of them; absent or null: nowhere. */
export interface EndSource {
  /** Path of the file. */
  readonly file: string;
  /** Its name as users know it. */
  readonly name: string;
  readonly key: string;
  readonly value: unknown;
}

/** All end tokens, an id once, with the first source that has it. Throws KVAD_E_TEXT_VALUE for what is no id. */
export const endTokens = (
  sources: readonly EndSource[],
  tokenOf: (id: number) => string | null,
): readonly EndToken[] => {
  const found = new Map<number, EndToken>();
  for (const { file, name, key, value } of sources) {
    for (const id of tokenIds(value, key, file)) {
      if (!found.has(id)) found.set(id, { id, token: tokenOf(id), source: `${name} ${key}` });
    }
  }
  return [...found.values()];
};

/** Ids given as one number or a list of them. Throws KVAD_E_TEXT_VALUE. */
export const tokenIds = (value: unknown, key: string, file: string): readonly number[] => {
  if (isNothing(value)) return [];
  const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
  return ids.map((id) => {
    if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0) return id;
    throw new KvadError('KVAD_E_TEXT_VALUE', { file, key, value, expected: 'a token id, or a list of them' });
  });
};
