import { ByteLevelText } from './byte-level-text.js';
import { PieceText } from './piece-text.js';
import type { TextStream } from './types.js';

/** Tokens one after the other -> the text that each completes. */
export interface TokenText {
  push(token: string): string;
  end(): string;
}

/** What a vocabulary and its decoder are, as far as decoding one token after the other goes. */
export interface TokenTexts {
  /** null: an id that stands for no token (rows of the model beyond the vocabulary). Throws KVAD_E_TOKEN_ID. */
  tokenOf(id: number): string | null;
  isSpecial(token: string): boolean;
  /** Tokens that are bytes: every token (byte-level), some (`<0xE4>`), or none. */
  readonly bytes: 'all' | 'some' | 'none';
  /** Text of tokens: the tokenizer's decoder. */
  join(tokens: readonly string[]): string;
}

/**
 * Streams the text of ids. Never gives half a character, holds at most three tokens back, and looks at a few tokens for
 * each id however long the text is.
 *
 * The pieces joined are the text that the tokenizer decodes from all ids. One exception: byte tokens (`<0xE4>`) in one
 * run, of which the first are whole characters and a later one is no UTF-8: those characters have been given by then,
 * where decoding all at once replaces the whole run by U+FFFD.
 */
export class IncrementalDecoder implements TextStream {
  readonly #texts: TokenTexts;
  readonly #skipSpecial: boolean;
  readonly #text: TokenText;

  constructor(texts: TokenTexts, options: { skipSpecial: boolean }) {
    this.#texts = texts;
    this.#skipSpecial = options.skipSpecial;
    this.#text =
      texts.bytes === 'all'
        ? new ByteLevelText()
        : new PieceText((tokens) => texts.join(tokens), texts.bytes === 'some');
  }

  push(id: number): string {
    const token = this.#texts.tokenOf(id);
    if (token === null || (this.#skipSpecial && this.#texts.isSpecial(token))) return '';
    return this.#text.push(token);
  }

  end(): string {
    return this.#text.end();
  }
}
