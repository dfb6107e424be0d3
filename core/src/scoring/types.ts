import type { KldFigure } from './kld-figures.js';

/** What a scoring run is asked for, and what it gives. Log-probabilities are natural, in double precision. */

export type ScoringMethod = 'chunks' | 'sliding';

/** A text, encoded once without a template. */
export type TextInput = (
  | { readonly text: string }
  /** Path of a text in UTF-8. One newline at its end is dropped. */
  | { readonly file: string }
) & {
  /** Special tokens written in the text become those tokens; absent: they are text, as in llama.cpp. */
  readonly parseSpecial?: boolean;
};

/** A text, or ids as they are. */
export type ScoringInput = TextInput | { readonly ids: ArrayLike<number> };

/** A base that a run writes for later runs to be compared with. */
export interface BaseOutput {
  readonly file: string;
  /** `topk`: kvad's own; `full`: llama.cpp's, of the whole vocabulary. Absent: `topk`. */
  readonly format?: 'topk' | 'full';
  /** Ids a token in the `topk` format, 1 to 32. Absent: 32. */
  readonly topK?: number;
  /** An existing file is replaced. */
  readonly force?: boolean;
}

/** Where a run notes each window that is done, so that a killed run can go on. */
export interface ProgressFile {
  /** It stays when the run has ended: whoever keeps the result removes it. */
  readonly file: string;
  /** Go on from what the file holds; absent: begin anew. */
  readonly resume?: boolean;
}

export interface PerplexityRequest {
  readonly input: ScoringInput;
  /** Give the ids with the result. */
  readonly tokenIds?: boolean;
  /** Absent: `chunks`. */
  readonly method?: ScoringMethod;
  /** Tokens of a window. Absent: 512. */
  readonly ctx?: number;
  /** Tokens between the beginnings of two sliding windows, at most `ctx`. Absent: `ctx`. */
  readonly stride?: number;
  /** Windows at most. */
  readonly chunks?: number;
  /** A base to compare with: kvad's or llama.cpp's. */
  readonly kld?: string;
  readonly kldBaseOut?: BaseOutput;
  readonly progress?: ProgressFile;
}

export interface PerplexityOptions {
  readonly signal?: AbortSignal;
  /** Called after each window. */
  onProgress?(progress: PerplexityProgress): void;
}

export interface PerplexityProgress {
  readonly type: 'perplexity';
  readonly windowsDone: number;
  readonly windows: number;
  /** Windows that an earlier run had done. */
  readonly windowsResumed: number;
  /** Of all windows so far. */
  readonly perplexity: number | null;
  readonly perplexityUncertainty: number | null;
  readonly meanKld: number | null;
  /** Since this run began. */
  readonly seconds: number;
  readonly prefillTokens: number;
}

/** One window. Indices count tokens of the run. */
export interface WindowScore {
  readonly index: number;
  readonly begin: number;
  readonly end: number;
  /** Targets `[firstTarget, end)` are scored. */
  readonly firstTarget: number;
  readonly scored: number;
  readonly nllSum: number | null;
  readonly meanNll: number | null;
  readonly perplexity: number | null;
  readonly seconds: number;
}

/** A figure that is not defined (of too few tokens, a division by zero, an overflow) is null. */
export interface PerplexityResult {
  readonly tokens: number;
  /** null: not asked for. */
  readonly ids: Int32Array | null;
  /** Of the ids as little-endian 32-bit integers, before a BOS takes the place of any. */
  readonly tokenIdsSha256: string;
  readonly method: ScoringMethod;
  readonly ctx: number;
  /** null: `chunks` has none. */
  readonly stride: number | null;
  /** The limit that was asked for. */
  readonly chunks: number | null;
  /** The id in front of the text and, in `chunks`, in place of the first id of each window. */
  readonly bos: number | null;
  readonly scoredTokens: number;
  readonly meanNll: number | null;
  readonly meanNllUncertainty: number | null;
  readonly perplexity: number | null;
  readonly perplexityUncertainty: number | null;
  readonly prefillTokens: number;
  readonly elapsedSeconds: number;
  /** Rows whose logits were held at once. */
  readonly headRows: number;
  readonly batchSize: number;
  readonly kld: KldResult | null;
  readonly windows: readonly WindowScore[];
}

/** The compared model (q) against its base (p), over the scored tokens. Probabilities are fractions. */
export interface KldResult extends Readonly<Record<KldFigure, number | null>> {
  readonly base: string;
  readonly format: 'topk' | 'full';
  /** Ids a token of the base; null: the whole vocabulary. */
  readonly topK: number | null;
  readonly tokens: number;
  /** What the base says of the model that made it; null: llama.cpp's format says nothing. */
  readonly baseModel: BaseModel | null;
}

/** Informs: a base of another model or precision is what a comparison is for. */
export interface BaseModel {
  readonly directory: string;
  /** Of config.json and of the ends of the weight files. */
  readonly fingerprint: string;
  readonly quant: string | null;
  readonly kvCacheDtype: string;
  readonly kernels: string;
}
