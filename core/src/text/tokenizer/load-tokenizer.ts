import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type * as Library from 'tokenizers';
import { KvadError } from '../../errors/kvad-error.js';
import type { RawConfig } from '../../plan/config-source.js';
import { readTextFile } from '../json-file.js';
import { readSpecialTokens, type AddedTokenFlags, type SpecialTokens } from '../special-tokens.js';
import type { Tokenizer } from '../types.js';
import { MissingTokenizer } from './missing-tokenizer.js';
import { NativeTokenizer } from './native-tokenizer.js';
import { PlainText } from './plain-text.js';
import { checkTokenizer, TokenizerFault, type TokenizerFacts } from './tokenizer-file.js';
import { tryTokenizer } from './trial.js';

export interface LoadedTokenizer {
  /** File name, or null if there is none: then the tokenizer is one that throws. */
  readonly source: string | null;
  readonly tokenizer: Tokenizer;
  readonly tokens: SpecialTokens;
  readonly warnings: readonly string[];
}

const SOURCE = 'tokenizer.json';

/**
 * Loads tokenizer.json, checked, with the tokens that tokenizer_config.json (`config`) adds. `rows`: rows of the model's
 * embedding, if known. Truncation and padding that the file asks for are turned off, as transformers does for a text.
 * Throws KVAD_E_TOKENIZER_INVALID, KVAD_E_TOKENIZER_LIBRARY and KVAD_E_TEXT_*.
 */
export const loadTokenizer = async (
  directory: string,
  config: RawConfig | null,
  rows: number | null,
): Promise<LoadedTokenizer> => {
  const file = join(directory, SOURCE);
  const text = await readTextFile(directory, SOURCE);
  if (text === null) {
    const files = await readdir(directory).catch(() => []); // a folder that is not there: said as one without files
    const tokens = await readSpecialTokens(directory, config, []);
    return { source: null, tokenizer: new MissingTokenizer(directory, files.sort()), tokens, warnings: [] };
  }
  const facts = checked(text, file);
  if (facts.doubts.length > 0) {
    const death = await tryTokenizer(file);
    if (death !== null) {
      throw new KvadError('KVAD_E_TOKENIZER_INVALID', { file, reason: `${facts.doubts.join(', ')}: ${death}` });
    }
  }
  const tokens = await readSpecialTokens(directory, config, facts.added);
  const { AddedToken, Tokenizer: NativeLibrary } = await importLibrary();
  const make = (json: string, added: readonly AddedTokenFlags[]): Library.Tokenizer => {
    const made = load(() => NativeLibrary.fromString(json), file, facts.doubts);
    made.disableTruncation();
    made.disablePadding();
    made.addAddedTokens(added.map((token) => new AddedToken(token.content, token.special, optionsOf(token))));
    return made;
  };
  const library = make(text, tokens.added);
  const all = [...facts.added, ...tokens.added];
  const tokenizer = new NativeTokenizer(library, {
    ...{ file, rows, bytes: facts.bytes },
    added: all.map((token) => library.tokenToId(token.content)).filter((id) => id !== null),
    special: new Set(all.filter((token) => token.special).map((token) => token.content)),
    plain: new PlainText(text, facts.added, tokens.added, make),
  });
  return { source: SOURCE, tokenizer, tokens, warnings: otherIds(tokens, tokenizer) };
};

const optionsOf = (token: AddedTokenFlags): Library.AddedTokenOptions => ({
  singleWord: token.single_word,
  leftStrip: token.lstrip,
  rightStrip: token.rstrip,
  normalized: token.normalized,
});

/** A token gets the id that the vocabulary has for it, or the next free one, whatever id its file gives it. */
const otherIds = ({ added }: SpecialTokens, tokenizer: Tokenizer): string[] =>
  added.flatMap(({ file, content, id }) => {
    const found = tokenizer.idOf(content);
    if (id === null || id === found) return [];
    return [`${file} gives ${JSON.stringify(content)} the id ${id}, ${SOURCE} ${found}: that one counts`];
  });

/** A native module: imported when it is needed, and not for every machine there is one. */
const importLibrary = async (): Promise<typeof Library> => {
  try {
    return await import('tokenizers');
  } catch (error) {
    throw new KvadError('KVAD_E_TOKENIZER_LIBRARY', { reason: (error as Error).message }, { cause: error });
  }
};

/** The library says what is wrong, the doubts often where. */
const load = <T>(make: () => T, file: string, doubts: readonly string[]): T => {
  try {
    return make();
  } catch (error) {
    const reason = [...doubts, (error as Error).message].join(': ');
    throw new KvadError('KVAD_E_TOKENIZER_INVALID', { file, reason }, { cause: error });
  }
};

const checked = (text: string, file: string): TokenizerFacts => {
  try {
    return checkTokenizer(text);
  } catch (error) {
    if (!(error instanceof TokenizerFault)) throw error;
    throw new KvadError('KVAD_E_TOKENIZER_INVALID', { file, reason: error.message }, { cause: error });
  }
};
