/** `<name>.json`: what the Rust library makes of the strings of a folder. */
export interface TokenizerGolden {
  readonly name: string;
  readonly source: TokenizerSource;
  /** Of the tokenizer.json that was read; of a variant's it says nothing. */
  readonly sha256: string;
  /** Added tokens counted. */
  readonly vocab_size: number;
  readonly cases: readonly TokenizerCase[];
  readonly streams: readonly TokenizerStream[];
}

export interface TokenizerSource {
  /** A package of the npm registry, and the file in it. */
  readonly npm?: string;
  readonly version?: string;
  readonly path?: string;
  /** The same file here, gzipped. */
  readonly file?: string;
  /** Another golden, some of whose tokenizer.json's top-level keys are replaced. */
  readonly base?: string;
  readonly patch?: Readonly<Record<string, unknown>>;
}

export interface TokenizerCase {
  /** Id of the string. */
  readonly string: string;
  readonly ids: readonly number[];
  /** Absent: as `ids`. */
  readonly ids_special?: readonly number[];
  /** Absent: the string. */
  readonly decoded?: string;
  /** Absent: as `decoded`. */
  readonly decoded_all?: string;
}

export interface TokenizerStream {
  readonly ids: readonly number[];
  readonly skip_special_tokens: boolean;
  readonly text: string;
  /** What each id completed; null: nothing yet. */
  readonly chunks: readonly (string | null)[];
}

export const isGolden = (value: unknown): value is TokenizerGolden =>
  value !== null &&
  typeof value === 'object' &&
  ['source', 'cases', 'streams', 'vocab_size'].every((key) => Object.hasOwn(value, key));
