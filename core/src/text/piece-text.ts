import type { TokenText } from './incremental-decoder.js';
import { REPLACEMENT, utf8State } from './utf8.js';

/**
 * Text of tokens that are pieces of text (SentencePiece, WordPiece, Unigram), joined by the tokenizer's own decoder.
 *
 * What a decoder makes of a token depends on whether it is the first (which loses its space), not on what lies further
 * back: the text that tokens add is what they add to that of the few before them (`context`). A run of byte tokens
 * (`<0xE4>`) is text if all of it is UTF-8, else each byte is U+FFFD: characters are given when they are whole, and what
 * follows them in a run that turns out to be no UTF-8 becomes U+FFFD.
 */
export class PieceText implements TokenText {
  readonly #join: (tokens: readonly string[]) => string;
  readonly #byteFallback: boolean;
  /** The last tokens whose text was given, as they were given together: bytes of one character are not parted. */
  #context: readonly (readonly string[])[] = [];
  /** Tokens not given yet, bytes or pieces. */
  #held: string[] = [];
  #heldBytes: number[] = [];
  /** Inside a run of byte tokens that is no UTF-8. */
  #spoilt = false;

  /** `join`: the tokenizer's decoder. */
  constructor(join: (tokens: readonly string[]) => string, byteFallback: boolean) {
    this.#join = join;
    this.#byteFallback = byteFallback;
  }

  push(token: string): string {
    const byte = this.#byteFallback ? byteOf(token) : null;
    return byte === null ? this.#pushPiece(token) : this.#pushByte(token, byte);
  }

  end(): string {
    const text = this.#heldBytes.length > 0 ? this.#giveReplaced() : this.#give();
    this.#context = [];
    this.#spoilt = false;
    return text;
  }

  #pushByte(token: string, byte: number): string {
    const before = this.#heldBytes.length === 0 ? this.#give() : '';
    this.#held.push(token);
    this.#heldBytes.push(byte);
    const state = this.#spoilt ? 'invalid' : utf8State(this.#heldBytes);
    if (state === 'partial') return before;
    if (state === 'complete') return before + this.#give();
    this.#spoilt = true;
    return before + this.#giveReplaced();
  }

  #pushPiece(token: string): string {
    const before = this.#heldBytes.length > 0 ? this.#giveReplaced() : '';
    this.#spoilt = false;
    this.#held.push(token);
    const unfinished = this.#held.length <= MOST_HELD_TOKENS && this.#added().endsWith(REPLACEMENT);
    return unfinished ? before : before + this.#give();
  }

  /** The text that the held tokens add. */
  #added(): string {
    const before = this.#context.flat();
    const context = this.#join(before);
    const whole = this.#join([...before, ...this.#held]);
    return whole.slice(sharedStart(context, whole));
  }

  #give(): string {
    if (this.#held.length === 0) return '';
    const text = this.#added();
    this.#release(text);
    return text;
  }

  #giveReplaced(): string {
    const text = REPLACEMENT.repeat(this.#heldBytes.length);
    this.#release(text);
    return text;
  }

  /** The new context: the shortest end of all given so far that has text by itself; if none has, a few tokens. */
  #release(text: string): void {
    const hasText = (chunks: readonly (readonly string[])[]): boolean => this.#join(chunks.flat()) !== '';
    const given = [...this.#context, this.#held].slice(-MOST_CONTEXT);
    let from = given.length - 1;
    while (from > 0 && !hasText(given.slice(from))) from--;
    const changesNothing = text === '' && from < given.length - 1 && hasText(this.#context);
    if (!changesNothing) this.#context = given.slice(from);
    this.#held = [];
    this.#heldBytes = [];
  }
}

/** Three tokens finish any character; a U+FFFD that is still there then is the text itself. */
const MOST_HELD_TOKENS = 3;

/** How much without text (lone spaces at the beginning) is remembered. */
const MOST_CONTEXT = 8;

const BYTE_TOKEN = /^<0x([0-9A-Fa-f]{2})>$/;

const byteOf = (token: string): number | null => {
  const digits = BYTE_TOKEN.exec(token)?.[1];
  return digits === undefined ? null : Number.parseInt(digits, 16);
};

/** Decoders that look ahead may change the end of what they gave: what both share stands. */
const sharedStart = (a: string, b: string): number => {
  if (b.startsWith(a)) return a.length;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
};
