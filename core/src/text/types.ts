import type { TextFacts } from '../runtime/types.js';

export interface EncodeOptions {
  /** Add the special tokens that the tokenizer's post-processor adds (BOS). */
  readonly special: boolean;
  /** false: special tokens written in the text are text. Absent: they are those tokens. */
  readonly parseSpecial?: boolean;
  /** A long text may be encoded in pieces, with the same ids, so that memory does not grow with it. */
  readonly inPieces?: boolean;
}

/**
 * Text <-> ids. KVAD_E_TOKEN_ID: an id that is no integer, negative, or beyond both vocabulary and model; a text that
 * has a token beyond the model's rows.
 */
export interface Tokenizer {
  /** Tokens of the vocabulary, added ones with them. */
  readonly vocabSize: number;
  /** Lone surrogates become U+FFFD. */
  encode(text: string, options: EncodeOptions): Promise<number[]>;
  decode(ids: readonly number[], options: { skipSpecial: boolean }): Promise<string>;
  /** Decodes one id after the other; gives whole characters only. */
  stream(options: { skipSpecial: boolean }): TextStream;
  /** null: no token has this id. */
  tokenOf(id: number): string | null;
  idOf(token: string): number | null;
}

/** Text of ids as they come. What `push` and `end` gave, joined, is the text of all ids. */
export interface TextStream {
  /** The text that the id completes; empty while a character is half there. */
  push(id: number): string;
  /** What was held back; a half character becomes U+FFFD. The stream can be used for another text afterwards. */
  end(): string;
}

export interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly [key: string]: unknown;
}

export interface TemplateInput {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly unknown[];
  readonly documents?: readonly unknown[];
  readonly addGenerationPrompt: boolean;
  /** More variables for the template, as `enable_thinking`. */
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Which of several named templates; absent: `tool_use` if there is one and tools are given, else `default`. */
  readonly name?: string;
  /** The clock of `strftime_now`, in local time; absent: now. */
  readonly now?: Date;
  /** Content that is a list of texts stays one, even if the template wants a text. Absent: it is joined for such a template. */
  readonly keepParts?: boolean;
}

/** Renders a chat template; the one seam behind which the dialect of Jinja lies. */
export interface TemplateRenderer {
  /** Where the template came from: `chat_template.jinja`, `tokenizer_config.json`. */
  readonly source: string;
  /** Names of the templates, `default` first; most models have that one only. */
  readonly names: readonly string[];
  /** Throws KVAD_E_TEMPLATE_RAISED with the template's own words, KVAD_E_TEMPLATE_LIMIT, or KVAD_E_TEMPLATE. */
  render(input: TemplateInput): string;
}

/** All that a model's folder says about text; made by `loadText`, without opening the weights. */
export interface TextSide {
  readonly facts: TextFacts;
  /** If the folder has no tokenizer.json: one whose every method throws KVAD_E_TOKENIZER_MISSING (`facts.tokenizer` is null). */
  readonly tokenizer: Tokenizer;
  /** null: a base model. */
  readonly template: TemplateRenderer | null;
  /** Ids that end a generation. */
  readonly endIds: ReadonlySet<number>;
  /** What a user should know of these files or prompts; grows (each entry is there once). */
  readonly warnings: readonly string[];
  /** A raw text: with the special tokens that the tokenizer adds. */
  encodeText(text: string): Promise<number[]>;
  /** A rendered template holds its special tokens itself: none is added. */
  encodeRendered(text: string): Promise<number[]>;
}
