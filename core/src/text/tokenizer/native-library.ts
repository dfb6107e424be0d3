import { createRequire } from 'node:module';
import type * as Library from 'tokenizers';
import type { AddedTokenFlags } from '../special-tokens.js';
import type { MakeLibrary, TokenizerSource } from './library.js';

// A native module: it is found from here, wherever this file's code has been put.
const { AddedToken, Tokenizer } = createRequire(import.meta.url)('tokenizers') as typeof Library;

/**
 * A tokenizer.json in the native library, the one that its format is of. Truncation and padding that the file asks for are
 * turned off, as transformers does for a text.
 */
export const makeNative: MakeLibrary = (source, added) => {
  const library = open(source);
  library.disableTruncation();
  library.disablePadding();
  library.addAddedTokens(added.map((token) => new AddedToken(token.content, token.special, optionsOf(token))));
  const decoder = library.getDecoder();
  return {
    vocabSize: library.getVocabSize(true),
    encode: async (text, special) => {
      const encoding = await library.encode(text, null, { addSpecialTokens: special });
      return { ids: encoding.getIds(), place: (token) => encoding.tokenToChars(token) as [number, number] | null };
    },
    decode: (ids, skipSpecial) => library.decode([...ids], skipSpecial),
    join: (tokens) => {
      if (decoder === null) return tokens.join(' ');
      return tokens.length === 0 ? '' : decoder.decode([...tokens]);
    },
    idToToken: (id) => library.idToToken(id),
    tokenToId: (token) => library.tokenToId(token),
  };
};

/** The library reads a file in five sixths of the time that it needs for the text of a JavaScript string. */
const open = ({ file, text }: TokenizerSource): Library.Tokenizer => {
  if (file === null) return Tokenizer.fromString(text());
  try {
    return Tokenizer.fromFile(file);
  } catch (error) {
    throw new Error((error as Error).message.replace(/^Error loading from file/, ''), { cause: error });
  }
};

const optionsOf = (token: AddedTokenFlags): Library.AddedTokenOptions => ({
  singleWord: token.single_word,
  leftStrip: token.lstrip,
  rightStrip: token.rstrip,
  normalized: token.normalized,
});
