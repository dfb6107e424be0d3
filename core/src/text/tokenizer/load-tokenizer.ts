import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isKvadError, KvadError } from '../../errors/kvad-error.js';
import type { RawConfig } from '../../plan/config-source.js';
import { readSpecialTokens, type SpecialTokens } from '../special-tokens.js';
import type { Tokenizer } from '../types.js';
import { assembleTokenizer } from './assemble-tokenizer.js';
import { CheckedTokenizer } from './checked-tokenizer.js';
import { joinMerges, type JoinedMerges } from './joined-merges.js';
import { digestOf, type KeptTokenizer } from './kept-tokenizer.js';
import {
  openLibrary,
  type LibraryName,
  type MakeLibrary,
  type OpenedLibrary,
  type TokenizerLibrary,
  type TokenizerSource,
} from './library.js';
import { MissingTokenizer } from './missing-tokenizer.js';
import { PlainText } from './plain-text.js';
import { openStored, type GivenTokenizer } from './stored-tokenizer.js';
import { checkTokenizer, TokenizerFault, type TokenizerFacts } from './tokenizer-file.js';
import { tryTokenizer } from './trial.js';

export interface LoadedTokenizer {
  /** File name, or null if there is none: then the tokenizer is one that throws. */
  readonly source: string | null;
  readonly tokenizer: Tokenizer;
  readonly tokens: SpecialTokens;
  readonly warnings: readonly string[];
}

export interface TokenizerOptions {
  /** Which library reads it; absent: the native one where it can be had. */
  readonly library?: LibraryName | undefined;
  /** Has what was made of the same files before, and gets what is made of these. */
  readonly kept?: KeptTokenizer | undefined;
}

const SOURCE = 'tokenizer.json';

/**
 * Loads tokenizer.json (or what vocab.json and merges.txt stand for), checked, with the tokens that tokenizer_config.json
 * (`config`) adds. `rows`: rows of the model's embedding, if known.
 * Throws KVAD_E_TOKENIZER_INVALID, KVAD_E_TOKENIZER_LIBRARY and KVAD_E_TEXT_*.
 */
export const loadTokenizer = async (
  directory: string,
  config: RawConfig | null,
  rows: number | null,
  options: TokenizerOptions = {},
): Promise<LoadedTokenizer> => {
  const stored = openStored(directory, SOURCE);
  if (stored !== null) return read({ ...stored, name: SOURCE, config }, directory, rows, options);
  const assembled = await assembleTokenizer(directory, config);
  if (assembled !== null) return read({ ...assembled, ...inMemory(assembled.text) }, directory, rows, options);
  const files = await readdir(directory).catch(() => []); // a folder that is not there: said as one without files
  const tokens = await readSpecialTokens(directory, config, []);
  return { source: null, tokenizer: new MissingTokenizer(directory, files.sort()), tokens, warnings: [] };
};

interface Given extends GivenTokenizer {
  /** File name, for messages. */
  readonly name: string;
  readonly config: RawConfig | null;
}

const inMemory = (text: string): GivenTokenizer => ({
  bytes: Buffer.from(text),
  source: { file: null, text: () => text },
  identity: digestOf(text),
  leave: () => undefined,
  requireUnchanged: () => undefined,
});

const read = async (
  { bytes, source, identity, leave, requireUnchanged, name, config }: Given,
  directory: string,
  rows: number | null,
  { library: asked, kept }: TokenizerOptions,
): Promise<LoadedTokenizer> => {
  const file = join(directory, name);
  const facts = checked(bytes, file);
  const library = await openLibrary(asked);
  if (facts.doubts.length > 0) {
    const death = await tryTokenizer(file, library.name);
    if (death !== null) {
      throw new KvadError('KVAD_E_TOKENIZER_INVALID', { file, reason: `${facts.doubts.join(', ')}: ${death}` });
    }
  }
  const tokens = await readSpecialTokens(directory, config, facts.added);
  const make: MakeLibrary = (from, added) => load(() => library.make(from, added), file, facts.doubts);
  const keeping = (one: MakeLibrary): MakeLibrary =>
    kept?.keeping(JSON.stringify([library.name, file, identity]), one) ?? one;
  const stored = { bytes, merges: library.name === 'native' ? facts.merges : null, leave };
  const made = keeping(makeStored(stored, library.make, make))(source, tokens.added);
  leave();
  try {
    requireUnchanged();
  } catch (error) {
    kept?.forget();
    throw error;
  }
  const all = [...facts.added, ...tokens.added];
  const tokenizer = new CheckedTokenizer(made, {
    ...{ file, rows, bytes: facts.bytes },
    added: all.map((token) => made.tokenToId(token.content)).filter((id) => id !== null),
    special: new Set(all.filter((token) => token.special).map((token) => token.content)),
    plain: new PlainText(source, facts.added, tokens.added, keeping(make)),
  });
  const warnings = [...otherIds(tokens, tokenizer, name), ...(await insteadOfNative(library, source))];
  return { source: name, tokenizer, tokens, warnings };
};

/** Of the file as it lies, with its merges joined where that can be. Made apart: who makes more later holds no bytes. */
const makeStored =
  (
    { bytes, merges, leave }: Pick<GivenTokenizer, 'bytes' | 'leave'> & Pick<TokenizerFacts, 'merges'>,
    makeQuietly: MakeLibrary,
    make: MakeLibrary,
  ): MakeLibrary =>
  (source, added) => {
    const joined = joinMerges(bytes, merges);
    leave();
    return (joined && makeJoined(joined, source, makeQuietly, added)) ?? make(source, added);
  };

/** null: the library does not take it, and will say of the file itself what is wrong. */
const makeJoined = (
  joined: JoinedMerges,
  source: TokenizerSource,
  make: MakeLibrary,
  added: Parameters<MakeLibrary>[1],
): TokenizerLibrary | null => {
  try {
    return make({ ...source, file: joined.file }, added);
  } catch {
    return null; // as said above
  } finally {
    joined.close();
  }
};

/** A user knows when another library than that of the format reads a file, and what of the file it may read otherwise. */
const insteadOfNative = async ({ insteadBecause }: OpenedLibrary, json: TokenizerSource): Promise<string[]> => {
  if (insteadBecause === null) return [];
  const { knownDifferences } = await import('./javascript-library.js');
  const differences = knownDifferences(json.text());
  const known =
    differences.length === 0
      ? 'no difference is known for a tokenizer like this one'
      : `it is known to give other ids for ${differences.join(', ')}`;
  const library = 'the JavaScript library @huggingface/tokenizers';
  return [`the native tokenizers library does not load (${insteadBecause}): ${library} is used, ${known}`];
};

/** A token gets the id that the vocabulary has for it, or the next free one, whatever id its file gives it. */
const otherIds = ({ added }: SpecialTokens, tokenizer: Tokenizer, source: string): string[] =>
  added.flatMap(({ file, content, id }) => {
    const found = tokenizer.idOf(content);
    if (id === null || id === found) return [];
    return [`${file} gives ${JSON.stringify(content)} the id ${id}, ${source} ${found}: that one counts`];
  });

/** The library says what is wrong, the doubts often where. */
const load = <T>(make: () => T, file: string, doubts: readonly string[]): T => {
  try {
    return make();
  } catch (error) {
    if (isKvadError(error)) throw error;
    const reason = [...doubts, (error as Error).message].join(': ');
    throw new KvadError('KVAD_E_TOKENIZER_INVALID', { file, reason }, { cause: error });
  }
};

const checked = (bytes: Buffer, file: string): TokenizerFacts => {
  try {
    return checkTokenizer(bytes);
  } catch (error) {
    if (!(error instanceof TokenizerFault)) throw error;
    throw new KvadError('KVAD_E_TOKENIZER_INVALID', { file, reason: error.message }, { cause: error });
  }
};
