import { KvadError } from '../../errors/kvad-error.js';
import type { TextStream, Tokenizer } from '../types.js';

/**
 * Stands where a folder has no tokenizer.json: a model can be checked and run on ids without one. Whatever needs text
 * throws KVAD_E_TOKENIZER_MISSING.
 */
export class MissingTokenizer implements Tokenizer {
  readonly vocabSize = 0;
  readonly #directory: string;
  readonly #files: readonly string[];

  constructor(directory: string, files: readonly string[]) {
    this.#directory = directory;
    this.#files = files;
  }

  encode(): Promise<number[]> {
    return Promise.reject(this.#error());
  }

  decode(): Promise<string> {
    return Promise.reject(this.#error());
  }

  stream(): TextStream {
    throw this.#error();
  }

  tokenOf(): string | null {
    throw this.#error();
  }

  idOf(): number | null {
    throw this.#error();
  }

  #error(): KvadError {
    return new KvadError('KVAD_E_TOKENIZER_MISSING', { directory: this.#directory, files: this.#files });
  }
}
