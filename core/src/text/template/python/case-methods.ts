import { bind } from './arguments.js';
import { charactersOf, isBlank, isCased, isPrintable, toTitle } from './characters.js';
import type { TextMethod } from './text-methods.js';
import { textOf } from './values.js';

const changes =
  (name: string, change: (text: string) => string): TextMethod =>
  (self, args, { budget }) => {
    bind(name, args, [], 0);
    budget.makes(textOf(self).length);
    return change(textOf(self));
  };

export const capitalize = (text: string): string => {
  const [first = '', ...rest] = charactersOf(text);
  // The end of a word is seen in the whole text: the sigma of a word is another one than its last.
  return (
    toTitle(first) +
    (rest.length === 0
      ? ''
      : Array.from((first + rest.join('')).toLowerCase())
          .slice(Array.from(first.toLowerCase()).length)
          .join(''))
  );
};

/** `str.title`: a letter after a letter is small, any other one is a beginning. */
const title = (text: string): string => {
  const lower = charactersOf(text);
  let inWord = false;
  return lower
    .map((character) => {
      const next = inWord ? character.toLowerCase() : toTitle(character);
      inWord = isCased(character);
      return next;
    })
    .join('');
};

const swapCase = (text: string): string =>
  charactersOf(text)
    .map((character) => {
      if (/\p{Uppercase}/u.test(character)) return character.toLowerCase();
      return /\p{Lowercase}/u.test(character) ? character.toUpperCase() : character;
    })
    .join('');

/** Letters that fold to something else than their small form. */
const FOLDS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'ss',
  ς: 'σ',
  ſ: 's',
  ŉ: 'ʼn',
  ǰ: 'ǰ',
  ΐ: 'ΐ',
  ΰ: 'ΰ',
  և: 'եւ',
  µ: 'μ',
};

const caseFold = (text: string): string =>
  charactersOf(text)
    .map((character) => {
      const fold = FOLDS[character];
      if (fold !== undefined) return fold;
      const upper = character.toUpperCase();
      // Ligatures and letters with more than one capital fold to the small forms of these.
      return Array.from(upper).length > Array.from(character).length ? upper.toLowerCase() : character.toLowerCase();
    })
    .join('');

const DIGIT =
  /[\p{Nd}\u00b2\u00b3\u00b9\u1369-\u1371\u19da\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490\u24ea\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792]/u;
/** Signs of Chinese numbers, which are letters. */
const NUMERAL =
  /[\p{N}\u3405\u3483\u382a\u3b4d\u4e00\u4e03\u4e07\u4e09\u4e5d\u4e8c\u4e94\u4e96\u4ebf\u4ec0-\u4ec3\u4edf\u4ee8\u4f0d\u4f70\u5104\u5146\u516b\u516d\u5341-\u5345\u534c\u53c1-\u53c4\u56db\u58f1\u58f9\u5e7a\u5efe\u5eff\u5f0c-\u5f0e\u5f10\u62fe\u634c\u67d2\u6f06\u7396\u767e\u8086\u842c\u8cae\u8cb3\u8d30\u9621\u9646\u964c\u9678\u96f6]/u;

export const isLetter = (character: string): boolean => /\p{L}/u.test(character);
const isNumeric = (character: string): boolean => NUMERAL.test(character);

const all =
  (name: string, test: (character: string) => boolean, ofNothing = false): TextMethod =>
  (self, args, { budget }) => {
    bind(name, args, [], 0);
    const text = textOf(self);
    budget.reads(text.length);
    return text === '' ? ofNothing : charactersOf(text).every(test);
  };

/** Has letters with case, all of them in the wanted one. */
export const isInCase = (text: string, wrong: RegExp): boolean => {
  const characters = charactersOf(text).filter(isCased);
  return characters.length > 0 && !characters.some((character) => wrong.test(character));
};

export const NOT_LOWER = /[\p{Uppercase}\p{Lt}]/u;
export const NOT_UPPER = /[\p{Lowercase}\p{Lt}]/u;

const isTitle = (text: string): boolean => {
  let inWord = false;
  let any = false;
  for (const character of charactersOf(text)) {
    const capital = NOT_LOWER.test(character);
    if (!isCased(character)) {
      inWord = false;
      continue;
    }
    if (capital === inWord) return false;
    inWord = true;
    any = true;
  }
  return any;
};

const tests =
  (name: string, test: (text: string) => boolean): TextMethod =>
  (self, args, { budget }) => {
    bind(name, args, [], 0);
    budget.reads(textOf(self).length);
    return test(textOf(self));
  };

export const CASE_METHODS: Readonly<Record<string, TextMethod>> = {
  lower: changes('lower', (text) => text.toLowerCase()),
  upper: changes('upper', (text) => text.toUpperCase()),
  capitalize: changes('capitalize', capitalize),
  title: changes('title', title),
  swapcase: changes('swapcase', swapCase),
  casefold: changes('casefold', caseFold),
  isalpha: all('isalpha', isLetter),
  isalnum: all('isalnum', (character) => isLetter(character) || isNumeric(character)),
  isdecimal: all('isdecimal', (character) => /\p{Nd}/u.test(character)),
  isdigit: all('isdigit', (character) => DIGIT.test(character)),
  isnumeric: all('isnumeric', isNumeric),
  isspace: all('isspace', isBlank),
  isprintable: all('isprintable', isPrintable, true),
  isascii: all('isascii', (character) => character <= '\x7f', true),
  islower: tests('islower', (text) => isInCase(text, NOT_LOWER)),
  isupper: tests('isupper', (text) => isInCase(text, NOT_UPPER)),
  istitle: tests('istitle', isTitle),
  isidentifier: tests('isidentifier', (text) => /^[\p{XIDS}_][\p{XIDC}]*$/u.test(text)),
};
