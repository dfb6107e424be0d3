import { KvadError } from '../errors/kvad-error.js';

export interface StopResult {
  /** Text that may be shown now. */
  readonly text: string;
  /** The stop that ended the text; null while it goes on. */
  readonly stop: string | null;
}

/**
 * Watches streamed text for stop strings. The match that starts first wins, the longest of those that start there; the
 * text ends before it. Held back is only the longest end of the text that may still become a stop, so that how the text
 * is cut into pieces changes nothing.
 */
export class StopStrings {
  readonly #stops: readonly string[];
  #held = '';

  /** Throws KVAD_E_OPTION for an empty stop. */
  constructor(stops: readonly string[]) {
    if (stops.includes('')) {
      throw new KvadError('KVAD_E_OPTION', { option: 'stop', value: '""', expected: 'a text that is not empty' });
    }
    this.#stops = stops;
  }

  push(text: string): StopResult {
    this.#held += text;
    return this.#release(false);
  }

  /** The text is over: nothing is held back any more. */
  end(): StopResult {
    return this.#release(true);
  }

  #release(over: boolean): StopResult {
    for (let at = 0; at < this.#held.length; at++) {
      const rest = this.#held.slice(at);
      const match = longest(this.#stops.filter((stop) => rest.startsWith(stop)));
      const open = !over && this.#stops.some((stop) => stop.length > rest.length && stop.startsWith(rest));
      if (!open && match === null) continue;
      const text = this.#held.slice(0, at);
      this.#held = open ? rest : '';
      return { text, stop: open ? null : match };
    }
    const text = this.#held;
    this.#held = '';
    return { text, stop: null };
  }
}

const longest = (texts: readonly string[]): string | null =>
  texts.reduce<string | null>((best, text) => (best === null || text.length > best.length ? text : best), null);
