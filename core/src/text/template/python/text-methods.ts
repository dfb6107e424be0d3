import { bind } from './arguments.js';
import { braceFormat, sourceOf } from './brace-format.js';
import { BLANK, between, lengthOf, pointsBefore, splitLines, strip, stripEnd, stripStart } from './characters.js';
import { Dict } from './dict.js';
import { PythonError, typeError, valueError } from './error.js';
import { indexOf } from './numbers.js';
import { itemOf, likewise, sliceBounds, valuesOf } from './sequences.js';
import { escapeHtml } from './text-form.js';
import {
  Callable,
  Markup,
  Tuple,
  isInt,
  isText,
  textOf,
  typeName,
  type Arguments,
  type Runtime,
  type Value,
} from './values.js';

const wantText = (value: Value | undefined, what: string): string => {
  if (value !== undefined && isText(value)) return textOf(value);
  throw typeError(`${what} must be str, not ${value === undefined ? 'nothing' : typeName(value)}`);
};

/** A text that goes into another one. */
const intoText = (self: string | Markup, value: Value, runtime: Runtime): string =>
  self instanceof Markup ? escapeHtml(value, runtime).text : wantText(value, 'argument');

const optionalIndex = (value: Value | undefined, absent: number): number =>
  value === undefined ? absent : indexOf(value);

/** A method of `str`, or of Markup: then what goes in is escaped, and what comes out is Markup. */
export type TextMethod = (self: string | Markup, args: Arguments, runtime: Runtime) => Value;

/** `replace`, and the filter of that name. */
export const replaceText = (text: string, from: string, to: string, count: number, { budget }: Runtime): string => {
  budget.reads(text.length);
  if (count === 0) return text;
  const most = count < 0 ? Infinity : count;
  const pieces = from === '' ? ['', ...Array.from(text), ''] : text.split(from);
  const times = Math.min(most, pieces.length - 1);
  budget.makes(text.length + times * (to.length - from.length));
  if (times === pieces.length - 1) return pieces.join(to);
  return (
    pieces.slice(0, times + 1).join(to) + (times < pieces.length - 1 ? from : '') + pieces.slice(times + 1).join(from)
  );
};

const splitOnBlanks = (text: string, most: number, fromEnd: boolean): string[] => {
  if (most < 0) return text.match(new RegExp(`[^${BLANK}]+`, 'g')) ?? [];
  const parts: string[] = [];
  let rest = fromEnd ? stripEnd(text, null) : stripStart(text, null);
  const word = new RegExp(fromEnd ? `[${BLANK}]+[^${BLANK}]+$` : `[${BLANK}]+`);
  while (rest !== '' && parts.length < most) {
    const match = word.exec(rest);
    if (match === null) break;
    if (fromEnd) {
      parts.unshift(stripStart(match[0], null));
      rest = rest.slice(0, match.index);
    } else {
      parts.push(rest.slice(0, match.index));
      rest = rest.slice(match.index + match[0].length);
    }
  }
  const left = fromEnd ? stripEnd(rest, null) : stripStart(rest, null);
  if (left !== '') parts[fromEnd ? 'unshift' : 'push'](fromEnd ? stripEndOnce(rest) : rest);
  return parts;
};

/** What `rsplit` leaves at the front keeps its own first blanks. */
const stripEndOnce = (text: string): string => stripEnd(text, null);

const splitOn = (text: string, separator: string, most: number, fromEnd: boolean): string[] => {
  const pieces = text.split(separator);
  if (most < 0 || pieces.length - 1 <= most) return pieces;
  if (fromEnd) {
    const kept = pieces.length - most;
    return [pieces.slice(0, kept).join(separator), ...pieces.slice(kept)];
  }
  return [...pieces.slice(0, most), pieces.slice(most).join(separator)];
};

const splitter =
  (name: string, fromEnd: boolean): TextMethod =>
  (self, args, { budget }) => {
    const [separator = null, most] = bind(name, args, ['sep', 'maxsplit'], 0);
    const text = textOf(self);
    const count = optionalIndex(most, -1);
    budget.makes(text.length);
    if (separator === null) return splitOnBlanks(text, count, fromEnd);
    const by = wantText(separator, 'sep');
    if (by === '') throw valueError('empty separator');
    const parts = splitOn(text, by, count, fromEnd);
    budget.lists(parts.length);
    return parts;
  };

const partition =
  (name: string, fromEnd: boolean): TextMethod =>
  (self, args, { budget }) => {
    const separator = wantText(bind(name, args, [''], 1)[0], 'separator');
    if (separator === '') throw valueError('empty separator');
    const text = textOf(self);
    budget.makes(text.length);
    const at = fromEnd ? text.lastIndexOf(separator) : text.indexOf(separator);
    if (at < 0) return new Tuple(fromEnd ? ['', '', text] : [text, '', '']);
    return new Tuple([text.slice(0, at), separator, text.slice(at + separator.length)]);
  };

const stripper =
  (name: string, strips: (text: string, chars: string | null) => string): TextMethod =>
  (self, args, { budget }) => {
    const [chars = null] = bind(name, args, [''], 0);
    budget.makes(textOf(self).length);
    return strips(textOf(self), chars === null ? null : wantText(chars, `${name} arg`));
  };

/** The part of a text from `start` to `stop`, and where it begins in code points. */
const window = (
  text: string,
  start: Value | undefined,
  stop: Value | undefined,
): { part: string; from: number } | null => {
  if ((start ?? null) === null && (stop ?? null) === null) return { part: text, from: 0 };
  const length = lengthOf(text);
  if (isInt(start ?? null) && indexOf(start!) > length) return null;
  const bounds = sliceBounds(start ?? null, stop ?? null, null, length);
  if (bounds.start > bounds.stop) return null;
  return { part: between(text, bounds.start, bounds.stop), from: bounds.start };
};

const finder =
  (name: string, fromEnd: boolean, mustBe: boolean): TextMethod =>
  (self, args, { budget }) => {
    const [needle, start, stop] = bind(name, args, ['', '', ''], 1);
    const wanted = wantText(needle, 'argument');
    const text = textOf(self);
    budget.reads(text.length);
    const range = window(text, start, stop);
    const unit = range === null ? -1 : fromEnd ? range.part.lastIndexOf(wanted) : range.part.indexOf(wanted);
    if (unit >= 0) return range!.from + pointsBefore(range!.part, unit);
    if (mustBe) throw valueError('substring not found');
    return -1;
  };

const count: TextMethod = (self: string | Markup, args: Arguments, { budget }: Runtime) => {
  const [needle, start, stop] = bind('count', args, ['', '', ''], 1);
  const wanted = wantText(needle, 'argument');
  budget.reads(textOf(self).length);
  const range = window(textOf(self), start, stop);
  if (range === null) return 0;
  return wanted === '' ? lengthOf(range.part) + 1 : range.part.split(wanted).length - 1;
};

const edge =
  (name: 'startsWith' | 'endsWith'): TextMethod =>
  (self, args, { budget }) => {
    const [affix, start, stop] = bind(name.toLowerCase(), args, ['', '', ''], 1);
    budget.reads(textOf(self).length);
    const range = window(textOf(self), start, stop);
    const options = affix instanceof Tuple ? affix.items : [affix];
    const texts = options.map((option) => wantText(option, `${name.toLowerCase()} first arg`));
    return range !== null && texts.some((text) => range.part[name](text));
  };

const justifier =
  (name: string, side: (missing: number, width: number) => number): TextMethod =>
  (self, args, runtime) => {
    const [width, fill = ' '] = bind(name, args, ['', ''], 1);
    return justify(self, indexOf(width!), intoText(self, fill, runtime), side, runtime);
  };

/** `side`: how many of the missing characters go to the left. */
const justify = (
  self: string | Markup,
  width: number,
  fill: string,
  side: (missing: number, width: number) => number,
  { budget }: Runtime,
): string => {
  if (lengthOf(fill) !== 1) throw typeError('The fill character must be exactly one character long');
  const text = textOf(self);
  const missing = width - lengthOf(text);
  if (missing <= 0) return text;
  budget.makes(text.length + missing * fill.length);
  const left = side(missing, width);
  return fill.repeat(left) + text + fill.repeat(missing - left);
};

/** An odd space goes to the left if the width is odd too. */
export const centerSide = (missing: number, width: number): number => Math.floor(missing / 2) + (missing & width & 1);

export const centered = (self: string | Markup, width: number, runtime: Runtime): string =>
  justify(self, width, ' ', centerSide, runtime);

const join: TextMethod = (self: string | Markup, args: Arguments, runtime: Runtime) => {
  const [items] = bind('join', args, [''], 1);
  return joinTexts(self, items!, runtime);
};

const joinTexts = (self: string | Markup, items: Value, runtime: Runtime): string => {
  const texts: string[] = [];
  let length = 0;
  for (const item of valuesOf(items, runtime)) {
    if (!(self instanceof Markup) && !isText(item)) {
      throw typeError(`sequence item ${texts.length}: expected str instance, ${typeName(item)} found`);
    }
    const text = intoText(self, item, runtime);
    length += text.length + textOf(self).length;
    runtime.budget.makes(length, text.length + textOf(self).length);
    runtime.budget.grows(texts.push(text));
  }
  return texts.join(textOf(self));
};

const expandTabs: TextMethod = (self: string | Markup, args: Arguments, { budget }: Runtime) => {
  const size = optionalIndex(bind('expandtabs', args, ['tabsize'], 0)[0], 8);
  const text = textOf(self);
  budget.makes(text.length + (text.split('\t').length - 1) * Math.max(0, size));
  let column = 0;
  return text.replace(/[^\t\n\r]+|[\t\n\r]/gu, (piece) => {
    if (piece === '\n' || piece === '\r') {
      column = 0;
      return piece;
    }
    if (piece !== '\t') {
      column += lengthOf(piece);
      return piece;
    }
    const spaces = size > 0 ? size - (column % size) : 0;
    column += spaces;
    return ' '.repeat(spaces);
  });
};

const zfill: TextMethod = (self: string | Markup, args: Arguments, { budget }: Runtime) => {
  const width = indexOf(bind('zfill', args, [''], 1)[0]!);
  const text = textOf(self);
  const missing = width - lengthOf(text);
  if (missing <= 0) return text;
  budget.makes(width);
  const sign = /^[+-]/.exec(text)?.[0] ?? '';
  return sign + '0'.repeat(missing) + text.slice(sign.length);
};

const translate: TextMethod = (self: string | Markup, args: Arguments, runtime: Runtime) => {
  const table = bind('translate', args, [''], 1)[0];
  return Array.from(textOf(self), (character) => {
    runtime.budget.step();
    const to = itemOf(table!, character.codePointAt(0)!, runtime);
    if (to === undefined) return character;
    if (to === null) return '';
    return isInt(to) ? String.fromCodePoint(indexOf(to)) : wantText(to, 'character mapping');
  }).join('');
};

const makeTrans: TextMethod = (_self, args: Arguments) => {
  const [from, to, drop] = bind('maketrans', args, ['', '', ''], 1);
  const code = (character: string): number => character.codePointAt(0)!;
  if (to === undefined) {
    if (!(from instanceof Dict)) throw typeError('if you give only one argument to maketrans it must be a dict');
    return new Dict([...from.entries()].map(([key, value]) => [isText(key) ? code(textOf(key)) : key, value]));
  }
  const [keys, values] = [from, to].map((text) => Array.from(wantText(text, 'maketrans argument'))) as [
    string[],
    string[],
  ];
  if (keys.length !== values.length) throw valueError('the first two maketrans arguments must have equal length');
  const table = new Dict(keys.map((key, index) => [code(key), code(values[index]!)]));
  for (const character of Array.from(drop === undefined ? '' : wantText(drop, 'maketrans argument'))) {
    table.set(code(character), null);
  }
  return table;
};

const without =
  (name: string, at: 'startsWith' | 'endsWith'): TextMethod =>
  (self, args) => {
    const affix = wantText(bind(name, args, [''], 1)[0], `${name}() argument`);
    const text = textOf(self);
    if (affix === '' || !text[at](affix)) return text;
    return at === 'startsWith' ? text.slice(affix.length) : text.slice(0, text.length - affix.length);
  };

export const TEXT_METHODS: Readonly<Record<string, TextMethod>> = {
  split: splitter('split', false),
  rsplit: splitter('rsplit', true),
  splitlines: (self, args, { budget }) => {
    const [keepEnds = false] = bind('splitlines', args, ['keepends'], 0);
    budget.makes(textOf(self).length);
    return splitLines(textOf(self), keepEnds !== false && keepEnds !== 0 && keepEnds !== null);
  },
  partition: partition('partition', false),
  rpartition: partition('rpartition', true),
  strip: stripper('strip', strip),
  lstrip: stripper('lstrip', stripStart),
  rstrip: stripper('rstrip', stripEnd),
  find: finder('find', false, false),
  rfind: finder('rfind', true, false),
  index: finder('index', false, true),
  rindex: finder('rindex', true, true),
  count,
  startswith: edge('startsWith'),
  endswith: edge('endsWith'),
  replace: (self, args, runtime) => {
    const [from, to, most] = bind('replace', args, ['', '', self instanceof Markup ? 'count' : ''], 2);
    const [old, by] = [wantText(from, 'replace() argument 1'), intoText(self, to!, runtime)];
    return replaceText(textOf(self), old, by, optionalIndex(most, -1), runtime);
  },
  center: justifier('center', centerSide),
  ljust: justifier('ljust', () => 0),
  rjust: justifier('rjust', (missing) => missing),
  zfill,
  expandtabs: expandTabs,
  join,
  format: (self, args, runtime) => braceFormat(self, sourceOf(args), runtime),
  format_map: (self, args, runtime) => {
    const mapping = bind('format_map', args, [''], 1)[0];
    return braceFormat(self, { positional: [], named: (name) => itemOf(mapping!, name, runtime) }, runtime);
  },
  translate,
  maketrans: makeTrans,
  removeprefix: without('removeprefix', 'startsWith'),
  removesuffix: without('removesuffix', 'endsWith'),
  encode: () => {
    throw new PythonError('TypeError', 'bytes are not supported');
  },
};

/** Methods whose results are as safe as the text that they belong to. */
const NOT_MARKED = new Set(['encode', 'maketrans']);

export const boundText = (self: string | Markup, name: string, method: TextMethod): Callable =>
  new Callable(name, (args, runtime) => {
    runtime.budget.step();
    const result = method(self, args, runtime);
    return self instanceof Markup && !NOT_MARKED.has(name) ? marked(self, result) : result;
  });

const marked = (self: Markup, result: Value): Value => {
  if (typeof result === 'string') return likewise(self, result);
  if (Array.isArray(result)) return result.map((item) => marked(self, item));
  return result instanceof Tuple ? new Tuple(result.items.map((item) => marked(self, item))) : result;
};
