import type { RawConfig } from '../../plan/config-source.js';
import type { AddedTokenFlags } from '../special-tokens.js';
import type { MakeLibrary, TokenizerLibrary, TokenizerSource } from './library.js';
import { vocabularyOf } from './vocabulary.js';

/**
 * A tokenizer to which special tokens are text, for scoring: a text about `<|endoftext|>` has no end in its middle. The
 * library has no such switch, so its file is changed: a special token that the vocabulary holds is found no more; one
 * that it does not hold gives its place, so that others keep their ids, to a name that no text has.
 */
export class PlainText {
  readonly #file: TokenizerSource;
  readonly #known: readonly AddedTokenFlags[];
  readonly #more: readonly AddedTokenFlags[];
  readonly #make: MakeLibrary;
  #library: TokenizerLibrary | null = null;

  /** `file`: the tokenizer.json, whose added tokens are `known`; `more` are added to it, in this order. */
  constructor(
    file: TokenizerSource,
    known: readonly AddedTokenFlags[],
    more: readonly AddedTokenFlags[],
    make: MakeLibrary,
  ) {
    this.#file = file;
    this.#known = known;
    this.#more = more;
    this.#make = make;
  }

  /** False if the text has no special token: then the usual tokenizer gives the same ids. */
  differs(text: string): boolean {
    return this.#special().some(({ content, normalized }) => normalized || text.includes(content));
  }

  /** Made when it is first needed. */
  get library(): TokenizerLibrary {
    return (this.#library ??= this.#changed());
  }

  /** The last word on a token's flags is that of the files beside tokenizer.json. */
  #special(): AddedTokenFlags[] {
    const flags = new Map([...this.#known, ...this.#more].map((token) => [token.content, token]));
    return [...flags.values()].filter((token) => token.special);
  }

  #changed(): TokenizerLibrary {
    const json = JSON.parse(this.#file.text()) as RawConfig;
    const vocabulary = vocabularyOf(json['model']);
    const special = new Set(this.#special().map(({ content }) => content));
    const taken = new Set<string>();
    const replaced = <T extends { readonly content: string }>(tokens: readonly T[]): T[] =>
      tokens.flatMap((token) => {
        if (!special.has(token.content)) return [token];
        if (vocabulary.has(token.content) || taken.has(token.content)) return [];
        taken.add(token.content);
        return [{ ...token, content: `\u{10FFFD}${taken.size}\u{10FFFD}` }];
      });
    const added = replaced((json['added_tokens'] ?? []) as { content: string }[]);
    const text = JSON.stringify({ ...json, added_tokens: added });
    return this.#make({ file: null, text: () => text }, replaced(this.#more));
  }
}
