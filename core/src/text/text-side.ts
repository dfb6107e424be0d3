import type { TextFacts } from '../runtime/types.js';
import type { GenerationDefaults } from './generation-config.js';
import type { TemplateRenderer, TextSide, Tokenizer } from './types.js';

/** What `loadText` found, ready for use. */
export class LoadedTextSide implements TextSide {
  readonly facts: TextFacts;
  readonly tokenizer: Tokenizer;
  readonly template: TemplateRenderer | null;
  readonly generation: GenerationDefaults;
  readonly endIds: ReadonlySet<number>;
  readonly #warnings: Set<string>;

  constructor(parts: {
    facts: TextFacts;
    tokenizer: Tokenizer;
    template: TemplateRenderer | null;
    generation: GenerationDefaults;
    warnings: readonly string[];
  }) {
    this.facts = parts.facts;
    this.tokenizer = parts.tokenizer;
    this.template = parts.template;
    this.generation = parts.generation;
    this.endIds = new Set(parts.facts.eos.map((end) => end.id));
    this.#warnings = new Set(parts.warnings);
  }

  get warnings(): readonly string[] {
    return [...this.#warnings];
  }

  encodeText(text: string): Promise<number[]> {
    return this.#encode(text, true);
  }

  encodeRendered(text: string): Promise<number[]> {
    return this.#encode(text, false);
  }

  /** A BOS that stands twice is kept: it is what the text says. */
  async #encode(text: string, special: boolean): Promise<number[]> {
    const ids = await this.tokenizer.encode(text, { special });
    const bos = this.facts.bos;
    if (bos !== null && ids[0] === bos.id && ids[1] === bos.id) {
      const token = JSON.stringify(this.tokenizer.tokenOf(bos.id));
      const cause = special ? `the tokenizer adds ${token} to raw text itself` : 'the chat template writes it itself';
      this.#warnings.add(`the prompt begins with ${token} twice, it is kept so: ${cause}`);
    }
    return ids;
  }
}
