import type { Decoder, Tokenizer as Library } from 'tokenizers';
import { KvadError } from '../../errors/kvad-error.js';
import { IncrementalDecoder } from '../incremental-decoder.js';
import type { EncodeOptions, TextStream, Tokenizer } from '../types.js';
import { wellFormed } from '../utf8.js';
import { encodePieces, isLong, type EncodedPiece } from './encode-pieces.js';
import type { PlainText } from './plain-text.js';

/** A tokenizer.json in the tokenizers library. */
export class NativeTokenizer implements Tokenizer {
  readonly vocabSize: number;
  readonly #limit: number;
  readonly #library: Library;
  readonly #decoder: Decoder | null;
  readonly #options: NativeTokenizerOptions;

  constructor(library: Library, options: NativeTokenizerOptions) {
    this.#library = library;
    this.#options = options;
    this.#decoder = library.getDecoder();
    this.vocabSize = library.getVocabSize(true);
    this.#limit = Math.max(this.vocabSize, options.rows ?? 0, ...options.added.map((id) => id + 1));
  }

  async encode(text: string, options: EncodeOptions): Promise<number[]> {
    const { file, rows, plain } = this.#options;
    const library = options.parseSpecial === false && plain.differs(text) ? plain.library : this.#library;
    let ids: number[];
    try {
      ids = await encodeWith(library, wellFormed(text), options);
    } catch (error) {
      throw new KvadError('KVAD_E_TOKENIZER_INVALID', { file, reason: (error as Error).message }, { cause: error });
    }
    const limit = rows ?? MOST_IDS;
    for (const id of ids) if (id >= limit) throw new KvadError('KVAD_E_TOKEN_ID', { id, vocabSize: limit });
    return ids;
  }

  async decode(ids: readonly number[], options: { skipSpecial: boolean }): Promise<string> {
    for (const id of ids) this.#checkId(id);
    return this.#library.decode([...ids], options.skipSpecial);
  }

  stream(options: { skipSpecial: boolean }): TextStream {
    const { special, bytes } = this.#options;
    const decoder = this.#decoder;
    return new IncrementalDecoder(
      {
        bytes,
        tokenOf: (id) => {
          this.#checkId(id);
          return this.tokenOf(id);
        },
        isSpecial: (token) => special.has(token),
        join: (tokens) =>
          decoder === null ? tokens.join(' ') : tokens.length === 0 ? '' : decoder.decode([...tokens]),
      },
      options,
    );
  }

  tokenOf(id: number): string | null {
    return isId(id) ? this.#library.idToToken(id) : null;
  }

  idOf(token: string): number | null {
    return this.#library.tokenToId(wellFormed(token));
  }

  /** Ids may have no token: a model's embedding often has more rows than its tokenizer has tokens. */
  #checkId(id: number): void {
    if (isId(id) && (id < this.#limit || this.#library.idToToken(id) !== null)) return;
    throw new KvadError('KVAD_E_TOKEN_ID', { id, vocabSize: this.#limit });
  }
}

const encodeWith = async (library: Library, text: string, { special, inPieces }: EncodeOptions): Promise<number[]> => {
  const joined = inPieces === true && !special && isLong(text) ? await encodePieces(text, placing(library)) : null;
  return joined ?? (await library.encode(text, null, { addSpecialTokens: special })).getIds();
};

const placing =
  (library: Library) =>
  async (piece: string): Promise<EncodedPiece> => {
    const encoding = await library.encode(piece, null, { addSpecialTokens: false });
    return { ids: encoding.getIds(), place: (token) => encoding.tokenToChars(token) as [number, number] | null };
  };

/** Ids are signed 32-bit integers to the model; the library would wrap what is larger or negative. */
const MOST_IDS = 2 ** 31;
const isId = (id: number): boolean => Number.isSafeInteger(id) && id >= 0 && id < MOST_IDS;

export interface NativeTokenizerOptions {
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
