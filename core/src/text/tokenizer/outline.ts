import { loadAddon } from '../../kernels/native/addon.js';

/**
 * A tokenizer.json without what makes it long: the values of `model.vocab` and `model.merges` are emptied. Reading the
 * whole takes longer than all else that kvad does with the file before the library gets it. Bytes that are no JSON come
 * back as they are, for the parser to say what is wrong.
 */
export const outline = (file: Uint8Array): string => readOutline(file).outline;

export interface Outline {
  readonly outline: string;
  /** An id that two tokens of the vocabulary have; null: none. */
  readonly sharedId: number | null;
  /** Where the list `model.merges` stands; null: nowhere, or more than once. */
  readonly merges: Cut | null;
}

/** Passes over the long values in the addon, where it is there: here it is most of the work, before anything is compiled. */
export const readOutline = (file: Uint8Array, pass: PassValue = loadAddon()?.passValue ?? passValue): Outline => {
  const kept: Uint8Array[] = [];
  let from = 0;
  const { cuts, sharedId } = longValues(file, pass);
  const merges = cuts.flatMap(({ name, start, end }) => (name === 'merges' ? [{ start, end }] : []));
  for (const { start, end } of cuts) {
    kept.push(file.subarray(from, start + 1));
    from = end - 1;
  }
  const text = Buffer.concat([...kept, file.subarray(from)]).toString('utf8');
  return { outline: text, sharedId, merges: merges.length === 1 ? merges[0]! : null };
};

/** Where the value ends that begins at `at`, and an id that stands in it twice or -1; `ids` 0: they are not looked at. */
export type PassValue = (file: Uint8Array, at: number, ids: number) => [end: number, sharedId: number];

export const passValue: PassValue = (file, at, watch) => {
  const ids = watch === 0 ? null : new VocabularyIds();
  const end = valueEnd(file, at, ids);
  return [end, ids?.shared ?? -1];
};

/** From the opening bracket to behind the closing one. */
export interface Cut {
  readonly start: number;
  readonly end: number;
}

/** In UTF-8 these bytes are no part of another character. */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
const LIST = 0x5b;
const LIST_END = 0x5d;
const ZERO = 0x30;
const NINE = 0x39;
const LONG = new Set(['vocab', 'merges']);

interface NamedCut extends Cut {
  readonly name: string;
}

const longValues = (file: Uint8Array, pass: PassValue): { cuts: readonly NamedCut[]; sharedId: number | null } => {
  const cuts: NamedCut[] = [];
  let sharedId: number | null = null;
  let depth = 0;
  let section = '';
  for (let at = 0; at < file.length; at++) {
    const byte = file[at];
    if (byte === OBJECT || byte === LIST) depth++;
    else if (byte === OBJECT_END || byte === LIST_END) depth--;
    else if (byte === QUOTE) {
      const end = stringEnd(file, at);
      const value = depth > 2 ? -1 : valueStart(file, end);
      const name = value < 0 ? '' : Buffer.from(file.subarray(at + 1, end - 1)).toString('utf8');
      at = end - 1;
      if (value < 0) continue;
      if (depth === 1) section = name;
      else if (section === 'model' && LONG.has(name) && (file[value] === OBJECT || file[value] === LIST)) {
        const isVocabulary = name === 'vocab' && file[value] === OBJECT;
        const [behind, shared] = pass(file, value, isVocabulary ? 1 : 0);
        if (shared >= 0) sharedId ??= shared;
        cuts.push({ name, start: value, end: behind });
        at = behind - 1;
      }
    }
  }
  return { cuts, sharedId };
};

/** Behind the closing quote of the string that begins at `at`; the file's end if there is none. */
const stringEnd = (file: Uint8Array, at: number): number => {
  for (let next = at + 1; next < file.length; next++) {
    const byte = file[next];
    if (byte === QUOTE) return next + 1;
    if (byte === BACKSLASH) next++;
  }
  return file.length;
};

/** Where the value of a key begins that ends at `at`; -1 if no colon follows, so that it is no key. */
const valueStart = (file: Uint8Array, at: number): number => {
  const colon = skipSpace(file, at);
  return file[colon] === COLON ? skipSpace(file, colon + 1) : -1;
};

const skipSpace = (file: Uint8Array, at: number): number => {
  let next = at;
  while (file[next] === 0x20 || file[next] === 0x0a || file[next] === 0x0d || file[next] === 0x09) next++;
  return next;
};

/**
 * Behind the bracket that closes the one at `at`; the file's end if there is none. `ids` gets the numbers in it, which in
 * a vocabulary are ids. One loop, with nothing called in it for most bytes: most of the file passes here.
 */
const valueEnd = (file: Uint8Array, at: number, ids: VocabularyIds | null): number => {
  const { length } = file;
  let depth = 0;
  let next = at;
  while (next < length) {
    const byte = file[next++]!;
    if (byte === QUOTE) {
      while (next < length) {
        const inside = file[next++]!;
        if (inside === QUOTE) break;
        if (inside === BACKSLASH) next++;
      }
    } else if (byte === OBJECT || byte === LIST) depth++;
    else if (byte === OBJECT_END || byte === LIST_END) {
      depth--;
      if (depth === 0) return next;
    } else if (byte >= ZERO && byte <= NINE && ids !== null) next = ids.add(file, next - 1);
  }
  return length;
};

/** Which ids a vocabulary has given. */
class VocabularyIds {
  /** The first that two tokens have; null: none. */
  shared: number | null = null;
  #seen = new Uint8Array(2 ** 18);

  /** Takes the number that begins at `at`; returns where it ends. */
  add(file: Uint8Array, at: number): number {
    const before = file[at - 1]!;
    let next = at;
    let id = 0;
    let byte = file[next];
    while (byte !== undefined && byte >= ZERO && byte <= NINE) {
      id = id * 10 + byte - ZERO;
      byte = file[++next];
    }
    // The library says what is wrong with an id that is negative, a fraction or huge.
    if (NOT_WHOLE.has(before) || NOT_WHOLE.has(byte ?? ZERO) || id >= MOST_WATCHED) return next;
    if (id >= this.#seen.length) this.#seen = grown(this.#seen, id);
    if (this.#seen[id] === 1) this.shared ??= id;
    this.#seen[id] = 1;
    return next;
  }
}

const NOT_WHOLE: ReadonlySet<number> = new Set(Buffer.from('-.eE+'));
const MOST_WATCHED = 2 ** 24;

const grown = (bytes: Uint8Array<ArrayBuffer>, index: number): Uint8Array<ArrayBuffer> => {
  const more = new Uint8Array(Math.min(MOST_WATCHED, 2 * index));
  more.set(bytes);
  return more;
};
