import { createHash } from 'node:crypto';
import type { MakeLibrary, TokenizerLibrary } from './library.js';

/**
 * What the library made of the tokenizer that was loaded last: whoever loads the same files again gets the same one. In
 * every thread that has encoded with a tokenizer the native library (0.23.2) keeps the words that it met, up to 10,000 of
 * some 370 bytes each, and it keeps them when the tokenizer is gone: one made anew for each load would leave as much
 * each time, until the process ends.
 */
export class KeptTokenizer {
  #file = '';
  #made = new Map<string, TokenizerLibrary>();

  /** `make`, for a tokenizer whose files `file` stands for: what it made of them before is given again. */
  keeping(file: string, make: MakeLibrary): MakeLibrary {
    if (file !== this.#file) this.#made = new Map();
    this.#file = file;
    // A model may still ask for more of its own when another has been loaded since.
    const made = this.#made;
    return (source, added) => {
      // The file itself, or a text that was made from it.
      const text = source.file === null ? digestOf(source.text()) : null;
      const key = JSON.stringify([text, added]);
      const library = made.get(key) ?? make(source, added);
      made.set(key, library);
      return library;
    };
  }

  /** What was made last may not be what its file holds. */
  forget(): void {
    this.#file = '';
  }
}

/** Stands for a text or bytes. */
export const digestOf = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
