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
  /** What a stream of tokens goes by. */
  readonly facts: StreamFacts;
  readonly #library: TokenizerLibrary;
  readonly #options: CheckedTokenizerOptions;

  constructor(library: TokenizerLibrary, options: CheckedTokenizerOptions) {
    const { rows, added, special, bytes } = options;
    this.#library = library;
    this.#options = options;
    this.vocabSize = library.vocabSize;
    this.facts = { limit: Math.max(this.vocabSize, rows ?? 0, ...added.map((id) => id + 1)), special, bytes };
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
    for (const id of ids) checkId(id, this.facts, this);
    return this.#told(() => this.#library.decode(ids, options.skipSpecial));
  }

  stream(options: { skipSpecial: boolean }): TextStream {
    return streamOf(this.facts, this, options);
  }

  /** Text of tokens: the tokenizer's decoder. */
  join(tokens: readonly string[]): string {
    try {
      return this.#library.join(tokens);
    } catch (error) {
      throw this.#fault(error);
    }
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
}

/** What is the same for every stream of a tokenizer; plain data. */
export interface StreamFacts {
  /** Ids below it are those of tokens, added tokens or rows of the model. */
  readonly limit: number;
  readonly special: ReadonlySet<string>;
  readonly bytes: 'all' | 'some' | 'none';
}

/** What a stream asks of its tokenizer. */
interface Tokens {
  tokenOf(id: number): string | null;
  join(tokens: readonly string[]): string;
}

export const streamOf = (facts: StreamFacts, tokens: Tokens, options: { skipSpecial: boolean }): TextStream =>
  new IncrementalDecoder(
    {
      bytes: facts.bytes,
      tokenOf: (id) => {
        checkId(id, facts, tokens);
        return tokens.tokenOf(id);
      },
      isSpecial: (token) => facts.special.has(token),
      join: (list) => tokens.join(list),
    },
    options,
  );

/** Ids may have no token: a model's embedding often has more rows than its tokenizer has tokens. */
const checkId = (id: number, { limit }: StreamFacts, tokens: Pick<Tokens, 'tokenOf'>): void => {
  if (isTokenId(id) && (id < limit || tokens.tokenOf(id) !== null)) return;
  throw new KvadError('KVAD_E_TOKEN_ID', { id, vocabSize: limit });
};

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
