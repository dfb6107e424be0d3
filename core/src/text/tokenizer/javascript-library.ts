import * as Untyped from '@huggingface/tokenizers';
import { isObject, type RawConfig } from '../../plan/config-source.js';
import type { AddedTokenFlags } from '../special-tokens.js';
import type { MakeLibrary } from './library.js';
import { isTokenId } from './token-id.js';
import { vocabularyOf } from './vocabulary.js';

/** The part of the package that is used; the types that it brings cannot be resolved from Node's modules. */
interface JavaScriptTokenizer {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: readonly (number | undefined)[] };
  decode(ids: readonly number[], options: { skip_special_tokens: boolean }): string;
  readonly decoder: ((tokens: readonly string[]) => string) | null;
  id_to_token(id: number): string | undefined;
  token_to_id(token: string): number | undefined;
}
const { Tokenizer } = Untyped as unknown as {
  Tokenizer: new (json: RawConfig, config: RawConfig) => JavaScriptTokenizer;
};

/** A tokenizer.json in the JavaScript library: for machines for which the native one has no binary. */
export const makeJavaScript: MakeLibrary = (source, more) => {
  const json = JSON.parse(source.text()) as RawConfig;
  const added = withIds(json, more);
  const library = new Tokenizer({ ...EMPTY, ...json, added_tokens: added }, { clean_up_tokenization_spaces: false });
  const { decoder } = library;
  const vocabulary = vocabularyOf(json['model']);
  for (const [token, id] of vocabulary) {
    if (!isTokenId(id)) throw new Error(`"model.vocab" gives ${JSON.stringify(token)} the id ${JSON.stringify(id)}`);
  }
  const beyond = added.filter(({ content }) => !vocabulary.has(content)).length;
  return {
    vocabSize: vocabulary.size + beyond,
    encode: (piece, special) => {
      const ids = library.encode(piece, { add_special_tokens: special }).ids.map((id) => {
        if (typeof id !== 'number')
          throw new Error('a part of the text has no token, and there is no token for unknown');
        return id;
      });
      return Promise.resolve({ ids, place: () => null });
    },
    decode: (ids, skip) => {
      const known = ids.filter((id) => library.id_to_token(id) !== undefined);
      const options = { skip_special_tokens: skip };
      return Promise.resolve(known.length === 0 ? '' : library.decode(known, options));
    },
    join: (tokens) => (decoder === null ? tokens.join(' ') : tokens.length === 0 ? '' : decoder([...tokens])),
    idToToken: (id) => library.id_to_token(id) ?? null,
    tokenToId: (token) => library.token_to_id(token) ?? null,
  };
};

const EMPTY = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };

type TokenWithId = AddedTokenFlags & { readonly id: number };

/**
 * Added tokens with their ids by the native library's rule: the id of the vocabulary, else the one that the token has
 * already, else the next that is free. Later flags replace earlier ones.
 */
const withIds = (json: RawConfig, more: readonly AddedTokenFlags[]): TokenWithId[] => {
  const vocabulary = vocabularyOf(json['model']);
  const tokens = new Map<string, TokenWithId>();
  let next = vocabulary.size;
  for (const token of [...((json['added_tokens'] ?? []) as AddedTokenFlags[]), ...more]) {
    const id = vocabulary.get(token.content) ?? tokens.get(token.content)?.id ?? next;
    next = Math.max(next, id + 1);
    tokens.set(token.content, { ...token, id });
  }
  return [...tokens.values()];
};

/**
 * What a tokenizer.json has of that which this library is known to do otherwise than the native one; measured on the
 * published tokenizers of the goldens.
 */
export const knownDifferences = (json: string): string[] => {
  const file = JSON.parse(json) as RawConfig;
  const model = file['model'];
  const differences: string[] = PARTS.filter(([type]) => json.includes(`"${type}"`)).map(([, about]) => about);
  if (isObject(model) && model['type'] === 'Unigram') differences.push('characters outside a Unigram vocabulary');
  const added = (file['added_tokens'] ?? []) as readonly AddedTokenFlags[];
  if (added.some((token) => token.single_word)) differences.push('added tokens that are words by themselves');
  return differences;
};

const PARTS = [
  ['Digits', 'digits that are not 0 to 9'],
  ['Precompiled', 'normalisation by a table'],
  ['WordPiece', 'words outside a WordPiece vocabulary'],
] as const;
