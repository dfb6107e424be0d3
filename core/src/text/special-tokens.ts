import { join } from 'node:path';
import { KvadError } from '../errors/kvad-error.js';
import { isObject, type RawConfig } from '../plan/config-source.js';
import { isNothing, readJsonObject } from './json-file.js';

/** Roles of tokens that every model may name; models with images or sound name more (`image_token`). */
const ROLES = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'];

/** A token outside the vocabulary's own algorithm: found in the text as it stands. Flags as in tokenizer.json. */
export interface AddedTokenFlags {
  readonly content: string;
  readonly special: boolean;
  readonly single_word: boolean;
  readonly lstrip: boolean;
  readonly rstrip: boolean;
  readonly normalized: boolean;
}

/** A token that is added to those of tokenizer.json, or given other flags. */
export interface TokenToAdd extends AddedTokenFlags {
  /** The id that a file gives it; null: none does. */
  readonly id: number | null;
  /** Path of the file that has it. */
  readonly file: string;
}

/** What the files beside tokenizer.json say of tokens. */
export interface SpecialTokens {
  /** Role -> text of its token. Chat templates get these as variables. */
  readonly named: Readonly<Record<string, string>>;
  /** In the order in which they are added; they replace flags that tokenizer.json has for the same content. */
  readonly added: readonly TokenToAdd[];
}

/**
 * Reads tokenizer_config.json (`config`) and, for folders of before 2023 (no `added_tokens_decoder`),
 * special_tokens_map.json and added_tokens.json, as transformers 5.24 does. `known`: the added tokens of tokenizer.json.
 * Throws KVAD_E_TEXT_FILE and KVAD_E_TEXT_VALUE.
 */
export const readSpecialTokens = async (
  directory: string,
  config: RawConfig | null,
  known: readonly (AddedTokenFlags & { readonly id: number })[],
): Promise<SpecialTokens> => {
  const file = join(directory, 'tokenizer_config.json');
  const decoder = config?.['added_tokens_decoder'];
  const mapFile = join(directory, 'special_tokens_map.json');
  const map = isNothing(decoder) ? await readJsonObject(directory, 'special_tokens_map.json') : null;
  const given = { ...withSource(config, file), ...withSource(map, mapFile) };

  const { roles, extra } = rolesOf(given);
  const named = new Set(roles.map((token) => token.content));
  const listed = isNothing(decoder)
    ? await legacyAddedTokens(directory, new Set([...named, ...extra.map((token) => token.content)]), known)
    : addedTokensDecoder(decoder, file);
  const present = new Set([...known, ...listed].map((token) => token.content));
  const missing = [...roles, ...extra].filter((token) => !present.has(token.content));
  return {
    named: Object.fromEntries(roles.map(({ role, content }) => [role, content])),
    added: [...listed, ...missing].map((token) => ({ ...token, special: token.special || named.has(token.content) })),
  };
};

type Sourced = Readonly<Record<string, { readonly value: unknown; readonly file: string }>>;

const withSource = (values: RawConfig | null, file: string): Sourced =>
  Object.fromEntries(Object.entries(values ?? {}).map(([key, value]) => [key, { value, file }]));

/** Where extra special tokens stand, by the newer and the older name: a list, or an object role -> token. */
const EXTRA_KEYS = ['extra_special_tokens', 'additional_special_tokens'];

/** Tokens with a role (`…_token`, or named among the extra ones), and those that are only said to be special. */
const rolesOf = (given: Sourced): { roles: (TokenToAdd & { role: string })[]; extra: TokenToAdd[] } => {
  const extraValues = EXTRA_KEYS.flatMap((key) => {
    const source = given[key];
    if (source === undefined || isNothing(source.value)) return [];
    const { value, file } = source;
    if (Array.isArray(value) || isObject(value)) return [{ key, file, value }];
    throw new KvadError('KVAD_E_TEXT_VALUE', { file, key, value, expected: 'a list of tokens' });
  });
  const list = extraValues.find(({ value }) => Array.isArray(value));
  const own = Object.keys(given).filter(
    (name) => name.endsWith('_token') && !ROLES.includes(name) && isToken(given[name]),
  );
  const roles = [
    ...[...ROLES, ...own].map((role) => ({ role, value: given[role]?.value, file: given[role]?.file ?? '' })),
    ...extraValues
      .filter(({ value }) => isObject(value))
      .flatMap(({ value, file }) => Object.entries(value).map(([role, token]) => ({ role, value: token, file }))),
  ];
  return {
    roles: roles.flatMap(({ role, value, file }) => {
      const token = tokenOf(value, role, file);
      return token === null ? [] : [{ ...token, role }];
    }),
    extra: ((list?.value ?? []) as readonly unknown[])
      .map((token) => tokenOf(token, list?.key ?? '', list?.file ?? ''))
      .filter((token) => token !== null),
  };
};

/** Not `add_bos_token: true`. */
const isToken = (source: { readonly value: unknown } | undefined): boolean =>
  typeof source?.value === 'string' || isObject(source?.value);

/** A token given as a string, or as an object with its flags; null: there is none. */
const tokenOf = (value: unknown, key: string, file: string): TokenToAdd | null => {
  if (isNothing(value) || value === '') return null;
  if (typeof value === 'string') return { ...PLAIN, content: value, special: true, id: null, file };
  const content = isObject(value) ? value['content'] : undefined;
  if (!isObject(value) || typeof content !== 'string' || content === '') {
    throw new KvadError('KVAD_E_TEXT_VALUE', { file, key, value, expected: 'a string, or an object with "content"' });
  }
  const special = value['special'] === true;
  const flag = (name: keyof typeof PLAIN, otherwise: boolean): boolean => {
    const given = value[name];
    return typeof given === 'boolean' ? given : otherwise;
  };
  return {
    ...{ content, special, id: null, file, normalized: flag('normalized', !special) },
    ...{ single_word: flag('single_word', false), lstrip: flag('lstrip', false), rstrip: flag('rstrip', false) },
  };
};

const PLAIN = { single_word: false, lstrip: false, rstrip: false, normalized: false } as const;

/** `added_tokens_decoder`: id -> token with its flags, in the order of ids. */
const addedTokensDecoder = (decoder: unknown, file: string): TokenToAdd[] => {
  const key = 'added_tokens_decoder';
  if (!isObject(decoder))
    throw new KvadError('KVAD_E_TEXT_VALUE', { file, key, value: decoder, expected: 'an object' });
  return Object.entries(decoder)
    .map(([name, value]) => {
      const token = tokenOf(value, `${key}.${name}`, file);
      if (token === null || !/^\d+$/.test(name)) {
        const expected = 'a token under its id';
        throw new KvadError('KVAD_E_TEXT_VALUE', { file, key: `${key}.${name}`, value, expected });
      }
      return { ...token, id: Number(name) };
    })
    .sort((a, b) => a.id - b.id);
};

/** The tokens of tokenizer.json (`known`), and of added_tokens.json (token -> id) those whose ids it does not have. */
const legacyAddedTokens = async (
  directory: string,
  special: ReadonlySet<string>,
  known: readonly (AddedTokenFlags & { readonly id: number })[],
): Promise<TokenToAdd[]> => {
  const name = 'added_tokens.json';
  const file = join(directory, name);
  const added = Object.entries((await readJsonObject(directory, name)) ?? {}).map(([content, id]) => {
    if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0) {
      throw new KvadError('KVAD_E_TEXT_VALUE', { file, key: content, value: id, expected: 'a token id' });
    }
    const isSpecial = special.has(content);
    return { ...PLAIN, normalized: !isSpecial, content, special: isSpecial, id, file };
  });
  return [
    ...known.map((token) => ({ ...token, file: join(directory, 'tokenizer.json') })),
    ...added.filter(({ content, id }) => content !== '' && !known.some((token) => token.id === id)),
  ].sort((a, b) => a.id - b.id);
};
