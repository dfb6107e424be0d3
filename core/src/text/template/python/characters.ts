/** What Python counts as a blank, as the inside of a class of a regular expression. */
export const BLANK = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';

const BLANK_START = new RegExp(`^[${BLANK}]+`);
const IS_BLANK = new RegExp(`^[${BLANK}]$`);
const SURROGATE = /[\ud800-\udfff]/;
const PAIRS = /[\ud800-\udbff][\udc00-\udfff]/g;

export const isBlank = (character: string): boolean => IS_BLANK.test(character);

/** Code points are code units. */
export const isPlain = (text: string): boolean => !SURROGATE.test(text);

/** Code points. */
export const lengthOf = (text: string): number =>
  isPlain(text) ? text.length : text.length - (text.match(PAIRS)?.length ?? 0);

export const charactersOf = (text: string): string[] => (isPlain(text) ? text.split('') : Array.from(text));

/** The character at a place that is in the text. */
export const characterAt = (text: string, index: number): string =>
  isPlain(text) ? text[index]! : Array.from(text)[index]!;

/** `text[start:stop]` with places from 0 to the length. */
export const between = (text: string, start: number, stop: number): string => {
  if (start >= stop) return '';
  return isPlain(text) ? text.slice(start, stop) : Array.from(text).slice(start, stop).join('');
};

/** Code units before a code point. */
export const unitsBefore = (text: string, index: number): number =>
  isPlain(text) ? index : Array.from(text).slice(0, index).join('').length;

/** Code points before a code unit. */
export const pointsBefore = (text: string, unit: number): number =>
  isPlain(text) ? unit : lengthOf(text.slice(0, unit));

/** -1, 0 or 1, by code points. */
export const compareTexts = (left: string, right: string): number => {
  if (left === right) return 0;
  const least = Math.min(left.length, right.length);
  let at = 0;
  while (at < least && left[at] === right[at]) at++;
  if (at === least) return left.length < right.length ? -1 : 1;
  const [a, b] = [left.charCodeAt(at), right.charCodeAt(at)];
  // A half of a pair stands for a code point above all others.
  const above = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;
  if (above(a) !== above(b)) return above(b) ? -1 : 1;
  return a < b ? -1 : 1;
};

const stripSet = (chars: string): Set<string> => new Set(Array.from(chars));

export const stripStart = (text: string, chars: string | null): string => {
  if (chars === null) return text.replace(BLANK_START, '');
  const set = stripSet(chars);
  let at = 0;
  for (const character of text) {
    if (!set.has(character)) break;
    at += character.length;
  }
  return text.slice(at);
};

export const stripEnd = (text: string, chars: string | null): string => {
  const set = chars === null ? null : stripSet(chars);
  let end = text.length;
  while (end > 0) {
    const low = text.charCodeAt(end - 1);
    const pair = low >= 0xdc00 && low <= 0xdfff && end > 1 && /[\ud800-\udbff]/.test(text[end - 2]!);
    const character = text.slice(end - (pair ? 2 : 1), end);
    if (set === null ? !isBlank(character) : !set.has(character)) break;
    end -= character.length;
  }
  return text.slice(0, end);
};

export const strip = (text: string, chars: string | null): string => stripStart(stripEnd(text, chars), chars);

const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g;

export const splitLines = (text: string, keepEnds = false): string[] => {
  const lines: string[] = [];
  let start = 0;
  for (const match of text.matchAll(LINE_END)) {
    const end = match.index + match[0].length;
    lines.push(text.slice(start, keepEnds ? end : match.index));
    start = end;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
};

/** Letters that have a form for the beginning of a title. */
const TITLES: Readonly<Record<string, string>> = {
  ...{ ǆ: 'ǅ', Ǆ: 'ǅ', ǉ: 'ǈ', Ǉ: 'ǈ', ǌ: 'ǋ', Ǌ: 'ǋ', ǳ: 'ǲ', Ǳ: 'ǲ', ǅ: 'ǅ', ǈ: 'ǈ', ǋ: 'ǋ', ǲ: 'ǲ' },
};

/** A character as the first one of a title: `ß` becomes `Ss`. */
export const toTitle = (character: string): string => {
  const title = TITLES[character];
  if (title !== undefined) return title;
  if (/[\u10d0-\u10ff]/.test(character)) return character;
  const [first = '', ...rest] = Array.from(character.toUpperCase());
  return first + rest.join('').toLowerCase();
};

export const isCased = (character: string): boolean => /[\p{Lowercase}\p{Uppercase}\p{Lt}]/u.test(character);

const UNPRINTABLE = /[\p{C}\p{Z}]/u;

export const isPrintable = (character: string): boolean => character === ' ' || !UNPRINTABLE.test(character);
