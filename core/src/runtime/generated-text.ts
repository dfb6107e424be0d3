import { StopStrings } from '../text/stop-strings.js';
import type { TextSide, TextStream } from '../text/types.js';

/** Ids without a tokenizer have no text. */
const NO_TEXT: TextStream = { push: () => '', end: () => '' };

/**
 * The text of ids as they come: whole characters, and nothing that may still become a stop string. The prompt's ids go
 * through the same stream, because what an id says depends on those before it.
 */
export class GeneratedText {
  readonly #stream: TextStream;
  readonly #stops: StopStrings;

  constructor({ facts, tokenizer }: TextSide, stops: readonly string[]) {
    this.#stops = new StopStrings(stops);
    const readable = facts.tokenizer !== null || stops.length > 0;
    this.#stream = readable ? tokenizer.stream({ skipSpecial: true }) : NO_TEXT;
  }

  /** A token of the prompt; stop strings do not end it. */
  prompt(id: number): string {
    return this.#stream.push(id);
  }

  push(id: number): { text: string; stopped: boolean } {
    const { text, stop } = this.#stops.push(this.#stream.push(id));
    return { text, stopped: stop !== null };
  }

  /** What was held back. */
  end(): { text: string; stopped: boolean } {
    const tail = this.#stops.push(this.#stream.end());
    if (tail.stop !== null) return { text: tail.text, stopped: true };
    const rest = this.#stops.end();
    return { text: tail.text + rest.text, stopped: rest.stop !== null };
  }
}
