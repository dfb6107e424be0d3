import { isKvadError, KvadError } from '../../errors/kvad-error.js';
import { IncrementalDecoder } from '../incremental-decoder.js';
import type { EncodeOptions, TextStream, Tokenizer } from '../types.js';
import { wellFormed } from '../utf8.js';
import { encodePieces, isLong } from './encode-pieces.js';
import type { TokenizerLibrary } from './library.js';
import type { PlainText } from './plain-text.js';
import { isTokenId, MOST_IDS } from './token-id.js';

/** A tokenizer.json in a library that takes any number for an id: here each is checked. */
export class CheckedTokenizer implements Tokenizer {
  readonly vocabSize: number;
  readonly #limit: number;
  readonly #library: TokenizerLibrary;
  readonly #options: CheckedTokenizerOptions;

  constructor(library: TokenizerLibrary, options: CheckedTokenizerOptions) {
    this.#library = library;
    this.#options = options;
    this.vocabSize = library.vocabSize;
    this.#limit = Math.max(this.vocabSize, options.rows ?? 0, ...options.added.map((id) => id + 1));
  }

  async encode(text: string, options: EncodeOptions): Promise<number[]> {
    const { rows, plain } = this.#options;
    const whole = wellFormed(text);
    const ids = await this.#told(() => {
      const library = options.parseSpecial === false && plain.differs(text) ? plain.library : this.#library;
      return encodeWith(library, whole, options);
    });
    const limit = rows ?? MOST_IDS;
    for (const id of ids) if (id >= limit) throw new KvadError('KVAD_E_TOKEN_ID', { id, vocabSize: limit });
    return [...ids];
  }

  async decode(ids: readonly number[], options: { skipSpecial: boolean }): Promise<string> {
    for (const id of ids) this.#checkId(id);
    return this.#told(() => this.#library.decode(ids, options.skipSpecial));
  }

  stream(options: { skipSpecial: boolean }): TextStream {
    const { special, bytes } = this.#options;
    return new IncrementalDecoder(
      {
        bytes,
        tokenOf: (id) => {
          this.#checkId(id);
          return this.tokenOf(id);
        },
        isSpecial: (token) => special.has(token),
        join: (tokens) => {
          try {
            return this.#library.join(tokens);
          } catch (error) {
            throw this.#fault(error);
          }
        },
      },
      options,
    );
  }

  tokenOf(id: number): string | null {
    return isTokenId(id) ? this.#library.idToToken(id) : null;
  }

  idOf(token: string): number | null {
    return this.#library.tokenToId(wellFormed(token));
  }

  /** What a library throws is about the file. */
  async #told<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      throw this.#fault(error);
    }
  }

  #fault(error: unknown): KvadError {
    if (isKvadError(error)) return error;
    const reason = (error as Error).message;
    return new KvadError('KVAD_E_TOKENIZER_INVALID', { file: this.#options.file, reason }, { cause: error });
  }

  /** Ids may have no token: a model's embedding often has more rows than its tokenizer has tokens. */
  #checkId(id: number): void {
    if (isTokenId(id) && (id < this.#limit || this.#library.idToToken(id) !== null)) return;
    throw new KvadError('KVAD_E_TOKEN_ID', { id, vocabSize: this.#limit });
  }
}

const encodeWith = async (
  library: TokenizerLibrary,
  text: string,
  { special, inPieces }: EncodeOptions,
): Promise<readonly number[]> => {
  const joined =
    inPieces === true && !special && isLong(text)
      ? await encodePieces(text, (piece) => library.encode(piece, false))
      : null;
  return joined ?? (await library.encode(text, special)).ids;
};

export interface CheckedTokenizerOptions {
  /** Path of tokenizer.json, for messages. */
  readonly file: string;
  /** Ids of added tokens. */
  readonly added: readonly number[];
  /** Rows of the model's embedding: no text may encode to an id beyond them; null: not known. */
  readonly rows: number | null;
  readonly special: ReadonlySet<string>;
  readonly bytes: 'all' | 'some' | 'none';
  /** The same tokenizer for which special tokens are text. */
  readonly plain: PlainText;
}
