import { KvadError } from '../../errors/kvad-error.js';
import type { AddedTokenFlags } from '../special-tokens.js';
import type { EncodedPiece } from './encode-pieces.js';

/** What kvad asks of a tokenizer.json, whichever library has read it. Ids have been checked before they come here. */
export interface TokenizerLibrary {
  /** Added tokens counted. */
  readonly vocabSize: number;
  /** The text is well formed. `special`: with the tokens that the post-processor adds. */
  encode(text: string, special: boolean): Promise<EncodedPiece>;
  decode(ids: readonly number[], skipSpecial: boolean): Promise<string>;
  /** The decoder by itself: text of tokens. */
  join(tokens: readonly string[]): string;
  idToToken(id: number): string | null;
  tokenToId(token: string): number | null;
}

/** A tokenizer.json, wherever it is. */
export interface TokenizerSource {
  text(): string;
  /** The path of a file that holds this text and nothing else; null: there is none. */
  readonly file: string | null;
}

/** Reads a tokenizer.json and adds tokens to its own, in their order, or gives its own other flags. */
export type MakeLibrary = (source: TokenizerSource, added: readonly AddedTokenFlags[]) => TokenizerLibrary;

export type LibraryName = 'native' | 'javascript';

export interface OpenedLibrary {
  readonly name: LibraryName;
  readonly make: MakeLibrary;
  /** Why it is not the native one; null: it is, or this one was asked for. */
  readonly insteadBecause: string | null;
}

/**
 * The library that reads tokenizer.json: the native one, and the JavaScript one where that has no binary. Each is
 * imported when it is needed. Throws KVAD_E_TOKENIZER_LIBRARY where neither loads.
 */
export const openLibrary = async (asked?: LibraryName): Promise<OpenedLibrary> => {
  let insteadBecause: string | null = null;
  if (asked !== 'javascript') {
    try {
      const { makeNative } = await import('./native-library.js');
      return { name: 'native', make: makeNative, insteadBecause };
    } catch (error) {
      insteadBecause = firstLine(error);
      if (asked === 'native') throw libraryError(insteadBecause, error);
    }
  }
  try {
    const { makeJavaScript } = await import('./javascript-library.js');
    return { name: 'javascript', make: makeJavaScript, insteadBecause };
  } catch (error) {
    throw libraryError([insteadBecause, firstLine(error)].filter(Boolean).join('; '), error);
  }
};

const firstLine = (error: unknown): string => (error as Error).message.split('\n', 1)[0] ?? '';

const libraryError = (reason: string, cause: unknown): KvadError =>
  new KvadError('KVAD_E_TOKENIZER_LIBRARY', { reason }, { cause });
