import { charactersOf, lengthOf, splitLines, strip } from '../python/characters.js';
import { PythonError, typeError, valueError } from '../python/error.js';
import { indexOf } from '../python/numbers.js';
import { isTrue } from '../python/sequences.js';
import { Undefined, isText, textOf, typeName, type Value } from '../python/values.js';
import { define, or } from './define.js';
import type { Filter } from './types.js';

interface WrapOptions {
  readonly width: number;
  readonly breakWords: boolean;
  readonly breakHyphens: boolean;
}

const WORD = '[\\p{L}\\p{N}_!"\'&.,?]';
const LETTER = '[\\p{L}_]';
const SPACE = '[\\t\\n\\v\\f\\r ]';
/** Blanks, dashes between words, and words up to a hyphen that a line may end at. */
const PIECES = new RegExp(
  `${SPACE}+|(?<=${WORD})-{2,}(?=[\\p{L}\\p{N}_])|[^\\t\\n\\v\\f\\r ]+?(?:-(?:(?<=${LETTER}{2}-)|(?<=${LETTER}-${LETTER}-))(?=${LETTER}-?${LETTER})|(?=${SPACE}|$)|(?<=${WORD})(?=-{2,}[\\p{L}\\p{N}_]))`,
  'gu',
);
const WORDS = new RegExp(`${SPACE}+|[^\\t\\n\\v\\f\\r ]+`, 'g');

const isBlankPiece = (piece: string): boolean => strip(piece, null) === '';

/** One line in lines of at most `width` characters. */
const wrap = (line: string, { width, breakWords, breakHyphens }: WrapOptions): string[] => {
  const pieces = (line.match(breakHyphens ? PIECES : WORDS) ?? []).reverse();
  const lines: string[] = [];
  while (pieces.length > 0) {
    const current: string[] = [];
    let length = 0;
    if (lines.length > 0 && isBlankPiece(pieces.at(-1)!)) pieces.pop();
    while (pieces.length > 0 && length + lengthOf(pieces.at(-1)!) <= width) {
      const piece = pieces.pop();
      length += lengthOf(piece!);
      current.push(piece!);
    }
    if (pieces.length > 0 && lengthOf(pieces.at(-1)!) > width) {
      if (breakWords) {
        const characters = charactersOf(pieces.pop()!);
        const end = breakAt(characters, width - length, breakHyphens);
        current.push(characters.slice(0, end).join(''));
        pieces.push(characters.slice(end).join(''));
      } else if (current.length === 0) {
        current.push(pieces.pop()!);
      }
    }
    if (current.length > 0 && isBlankPiece(current.at(-1)!)) current.pop();
    if (current.length > 0) lines.push(current.join(''));
  }
  return lines;
};

const breakAt = (characters: readonly string[], space: number, breakHyphens: boolean): number => {
  if (!breakHyphens) return space;
  const hyphen = characters.slice(0, space).lastIndexOf('-');
  return hyphen > 0 && characters.slice(0, hyphen).some((character) => character !== '-') ? hyphen + 1 : space;
};

const linesOf = (value: Value): string[] => {
  if (isText(value)) return splitLines(textOf(value));
  if (value instanceof Undefined) value.fail();
  throw new PythonError('AttributeError', `'${typeName(value)}' object has no attribute 'splitlines'`);
};

export const wordwrap: Filter = define(
  'wordwrap',
  ['width', 'break_long_words', 'wrapstring', 'break_on_hyphens'],
  0,
  (value, [givenWidth, breakWords, wrapString = null, breakHyphens], runtime) => {
    const width = indexOf(or(givenWidth, 79));
    const end = wrapString === null ? '\n' : wrapString;
    if (!isText(end)) throw typeError(`'${typeName(end)}' object has no attribute 'join'`);
    const options = {
      width,
      breakWords: isTrue(or(breakWords, true), runtime),
      breakHyphens: isTrue(or(breakHyphens, true), runtime),
    };
    const lines = linesOf(value).map((line) => {
      if (width <= 0) throw valueError(`invalid width ${width} (must be > 0)`);
      runtime.budget.makes(line.length * 2);
      const wrapped = wrap(line, options);
      runtime.budget.makes(line.length + wrapped.length * textOf(end).length);
      return wrapped.join(textOf(end));
    });
    return lines.join(textOf(end));
  },
);
