import { join } from 'node:path';
import { KvadError } from '../errors/kvad-error.js';
import { isObject, type RawConfig } from '../plan/config-source.js';
import { readJsonObject } from './json-file.js';

/** Tokens that have a role; also the names of the variables that chat templates get them under. */
export const SPECIAL_ROLES = [
  'bos_token',
  'eos_token',
  'unk_token',
  'sep_token',
  'pad_token',
  'cls_token',
  'mask_token',
] as const;
export type SpecialRole = (typeof SPECIAL_ROLES)[number];

/** A token outside the vocabulary's own algorithm: found in the text as it stands. Flags as in tokenizer.json. */
export interface AddedTokenFlags {
  readonly content: string;
  readonly special: boolean;
  readonly single_word: boolean;
  readonly lstrip: boolean;
  readonly rstrip: boolean;
  readonly normalized: boolean;
}

/** What the files beside tokenizer.json say of tokens. */
export interface SpecialTokens {
  /** The text of each role that the model gives a token. */
  readonly named: Readonly<Partial<Record<SpecialRole, string>>>;
  /** Tokens to add to those of tokenizer.json, in this order; those that it has with the same flags change nothing. */
  readonly added: readonly (AddedTokenFlags & { readonly id: number | null; readonly file: string })[];
}

/**
 * Reads tokenizer_config.json and, for folders of before 2023 (no `added_tokens_decoder`), special_tokens_map.json, as
 * transformers does. `known`: contents of the added tokens that tokenizer.json has.
 * Throws KVAD_E_TEXT_FILE and KVAD_E_TEXT_VALUE.
 */
export const readSpecialTokens = async (
  directory: string,
  config: RawConfig | null,
  known: ReadonlySet<string>,
): Promise<SpecialTokens> => {
  const file = join(directory, 'tokenizer_config.json');
  const decoder = config?.['added_tokens_decoder'];
  const map = decoder == null ? await readJsonObject(directory, 'special_tokens_map.json') : null;
  const mapFile = join(directory, 'special_tokens_map.json');

  const named: Partial<Record<SpecialRole, string>> = {};
  for (const role of SPECIAL_ROLES) {
    const content = contentOf(map?.[role], role, mapFile) ?? contentOf(config?.[role], role, file);
    if (content !== null) named[role] = content;
  }

  const listed = decoder == null ? [] : addedTokensDecoder(decoder, file);
  const contents = new Set([...known, ...listed.map((token) => token.content)]);
  const extra = [...Object.values(named), ...extraTokens(config, file), ...extraTokens(map, mapFile)]
    .filter((content, index, all) => content !== '' && !contents.has(content) && all.indexOf(content) === index)
    .map((content) => ({ ...SPECIAL_FLAGS, content, id: null, file }));
  return { named, added: [...listed, ...extra] };
};

const SPECIAL_FLAGS = { special: true, single_word: false, lstrip: false, rstrip: false, normalized: false } as const;

/** The text of a token given as a string or as an object with `content`; null: there is none. */
const contentOf = (value: unknown, key: string, file: string): string | null => {
  if (value == null) return null;
  if (typeof value === 'string') return value;
  if (isObject(value) && typeof value['content'] === 'string') return value['content'];
  throw new KvadError('KVAD_E_TEXT_VALUE', { file, key, value, expected: 'a string, or an object with "content"' });
};

/** `added_tokens_decoder`: id -> token with its flags, in the order of ids. */
const addedTokensDecoder = (decoder: unknown, file: string): SpecialTokens['added'] => {
  const key = 'added_tokens_decoder';
  if (!isObject(decoder))
    throw new KvadError('KVAD_E_TEXT_VALUE', { file, key, value: decoder, expected: 'an object' });
  return Object.entries(decoder)
    .map(([name, token]) => {
      const id = Number(name);
      const path = `${key}.${name}`;
      if (!Number.isSafeInteger(id) || id < 0) {
        throw new KvadError('KVAD_E_TEXT_VALUE', { file, key: path, value: token, expected: 'a token under its id' });
      }
      const content = isObject(token) ? contentOf(token, path, file) : null;
      if (!isObject(token) || content === null || content === '') {
        throw new KvadError('KVAD_E_TEXT_VALUE', {
          file,
          key: path,
          value: token,
          expected: 'an object with "content"',
        });
      }
      const special = token['special'] === true;
      const flag = (flagName: string, otherwise: boolean): boolean =>
        typeof token[flagName] === 'boolean' ? token[flagName] : otherwise;
      return {
        id,
        file,
        content,
        special,
        single_word: flag('single_word', false),
        lstrip: flag('lstrip', false),
        rstrip: flag('rstrip', false),
        normalized: flag('normalized', !special),
      };
    })
    .sort((a, b) => a.id - b.id);
};

/** `extra_special_tokens`, or by its older name `additional_special_tokens`: a list, or an object role -> token. */
const extraTokens = (config: RawConfig | null, file: string): string[] => {
  if (config === null) return [];
  const key = config['extra_special_tokens'] == null ? 'additional_special_tokens' : 'extra_special_tokens';
  const value = config[key];
  if (value == null) return [];
  const tokens: unknown[] | null = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : null;
  if (tokens === null) {
    throw new KvadError('KVAD_E_TEXT_VALUE', { file, key, value, expected: 'a list of tokens' });
  }
  return tokens.map((token) => contentOf(token, key, file)).filter((content) => content !== null);
};
