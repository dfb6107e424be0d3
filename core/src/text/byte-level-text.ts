import type { TokenText } from './incremental-decoder.js';
import { lossyText, REPLACEMENT, unfinishedTail } from './utf8.js';

/**
 * Text of byte-level tokens: each character of a token stands for a byte (GPT-2's table), the bytes of all tokens are
 * UTF-8. A token with a character outside the table (an added token) is its own UTF-8.
 */
export class ByteLevelText implements TokenText {
  #held: number[] = [];
  #heldTokens = 0;

  push(token: string): string {
    this.#held.push(...bytesOf(token));
    if (this.#heldTokens < MOST_HELD_TOKENS && lossyText(this.#held).endsWith(REPLACEMENT)) {
      this.#heldTokens++;
      return '';
    }
    const tail = unfinishedTail(this.#held);
    const settled = this.#held.length - tail;
    const text = lossyText(this.#held.slice(0, settled));
    this.#held = this.#held.slice(settled);
    this.#heldTokens = tail === 0 ? 0 : 1;
    return text;
  }

  end(): string {
    const text = lossyText(this.#held);
    this.#held = [];
    this.#heldTokens = 0;
    return text;
  }
}

/**
 * A token that ends in half a character, or in what is none, is given together with those after it, as the library's own
 * stream does. Three tokens finish any character: then what is settled is given.
 */
const MOST_HELD_TOKENS = 3;

const bytesOf = (token: string): Iterable<number> => {
  const bytes: number[] = [];
  for (const character of token) {
    const byte = BYTE_OF.get(character);
    if (byte === undefined) return Buffer.from(token, 'utf8');
    bytes.push(byte);
  }
  return bytes;
};

/** Printable bytes of Latin-1 stand for themselves, the others for the characters from U+0100 on, in their order. */
const byteTable = (): ReadonlyMap<string, number> => {
  const printable = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  const table = new Map<string, number>();
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) table.set(String.fromCodePoint(printable(byte) ? byte : next++), byte);
  return table;
};

const BYTE_OF = byteTable();
