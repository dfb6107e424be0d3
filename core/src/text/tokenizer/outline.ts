/**
 * A tokenizer.json without what makes it long: the values of `model.vocab` and `model.merges` are emptied. Reading the
 * whole takes longer than all else that kvad does with the file before the library gets it. Text that is no JSON comes
 * back as it is, for the parser to say what is wrong.
 */
export const outline = (text: string): string => readOutline(text).outline;

export interface Outline {
  readonly outline: string;
  /** An id that two tokens of the vocabulary have; null: none. */
  readonly sharedId: number | null;
}

export const readOutline = (text: string): Outline => {
  const cuts = longValues(text);
  const vocabulary = cuts.find(({ name, start }) => name === 'vocab' && text[start] === '{');
  let rest = '';
  let from = 0;
  for (const { start, end } of cuts) {
    rest += text.slice(from, start + 1);
    from = end - 1;
  }
  const sharedId = vocabulary === undefined ? null : sharedIdIn(text, vocabulary);
  return { outline: rest + text.slice(from), sharedId };
};

/** From the opening bracket to behind the closing one. */
interface Cut {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const LONG = new Set(['vocab', 'merges']);

const longValues = (text: string): readonly Cut[] => {
  const cuts: Cut[] = [];
  let depth = 0;
  let section = '';
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    else if (character === '"') {
      const end = stringEnd(text, at);
      const value = valueStart(text, end);
      const name = text.slice(at + 1, end - 1);
      at = end - 1;
      if (value < 0 || depth > 2) continue;
      if (depth === 1) section = name;
      else if (section === 'model' && LONG.has(name) && isOpening(text[value])) {
        cuts.push({ name, start: value, end: valueEnd(text, value) });
        at = (cuts.at(-1) as Cut).end - 1;
      }
    }
  }
  return cuts;
};

const isOpening = (character: string | undefined): boolean => character === '{' || character === '[';

/** Behind the closing quote of the string that begins at `at`; the text's end if there is none. */
const stringEnd = (text: string, at: number): number => {
  let end = text.indexOf('"', at + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end + 1;
};

const isEscaped = (text: string, at: number): boolean => {
  let slashes = 0;
  while (text[at - 1 - slashes] === '\\') slashes++;
  return slashes % 2 === 1;
};

/** Where the value of a key begins that ends at `at`; -1 if no colon follows, so that it is no key. */
const valueStart = (text: string, at: number): number => {
  const colon = skipSpace(text, at);
  return text[colon] === ':' ? skipSpace(text, colon + 1) : -1;
};

const skipSpace = (text: string, at: number): number => {
  let next = at;
  while (text[next] === ' ' || text[next] === '\n' || text[next] === '\r' || text[next] === '\t') next++;
  return next;
};

/** Behind the bracket that closes the one at `at`; the text's end if there is none. */
const valueEnd = (text: string, at: number): number => {
  let depth = 0;
  for (let next = at; next < text.length; next++) {
    const character = text[next];
    if (character === '"') next = stringEnd(text, next) - 1;
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') {
      depth--;
      if (depth === 0) return next + 1;
    }
  }
  return text.length;
};

/** Ids of a vocabulary are its values: the digits between its strings. */
const sharedIdIn = (text: string, { start, end }: Cut): number | null => {
  let seen = new Uint8Array(2 ** 18);
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at) - 1;
    if (code < ZERO || code > NINE) continue;
    const before = text[at - 1] ?? '';
    let id = 0;
    let next = code;
    for (; next >= ZERO && next <= NINE; next = text.charCodeAt(++at)) id = id * 10 + next - ZERO;
    // The library says what is wrong with an id that is negative, a fraction or huge.
    if (NOT_WHOLE.has(before) || NOT_WHOLE.has(text[at] ?? '') || id >= MOST_WATCHED) continue;
    if (id >= seen.length) seen = grown(seen, id);
    if (seen[id] === 1) return id;
    seen[id] = 1;
  }
  return null;
};

const QUOTE = 0x22;
const ZERO = 0x30;
const NINE = 0x39;
const NOT_WHOLE = new Set(['-', '.', 'e', 'E', '+']);
const MOST_WATCHED = 2 ** 24;

const grown = (bytes: Uint8Array<ArrayBuffer>, index: number): Uint8Array<ArrayBuffer> => {
  const more = new Uint8Array(Math.min(MOST_WATCHED, 2 * index));
  more.set(bytes);
  return more;
};
