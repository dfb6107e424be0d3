/** Text <-> ids. */
export interface Tokenizer {
  readonly vocabSize: number;
  /** `special`: add the special tokens that the tokenizer's post-processor adds (BOS). */
  encode(text: string, options: { special: boolean }): Promise<number[]>;
  decode(ids: readonly number[], options: { skipSpecial: boolean }): Promise<string>;
  tokenOf(id: number): string | null;
  idOf(token: string): number | null;
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
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly now?: Date;
}

/** Renders a chat template; the one seam behind which the dialect of Jinja lies. */
export interface TemplateRenderer {
  /** Where the template came from: `chat_template.jinja`, `tokenizer_config.json`. */
  readonly source: string;
  render(input: TemplateInput): string;
}
