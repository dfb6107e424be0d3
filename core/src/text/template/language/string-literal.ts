import { escaped } from '../python/text-form.js';
import { TemplateSyntaxError } from './syntax-error.js';

const SIMPLE: Readonly<Record<string, string>> = {
  ...{ '\n': '', '\\': '\\', "'": "'", '"': '"', a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
};

/**
 * What stands between the quotes of a literal. As in Python's jinja2, characters beyond ASCII are written as escapes
 * first; so a backslash before one of them is doubled by it. An escape without meaning stays as it is.
 */
export const stringLiteral = (body: string, line: number): string => {
  if (!body.includes('\\')) return body;
  const text = body.replace(/[^\x00-\x7f]/gu, (character) => escaped(character));
  return text.replace(/\\(?:x([^]{0,2})|u([^]{0,4})|U([^]{0,8})|([0-7]{1,3})|([^])?)/g, (whole, ...groups) => {
    const [x, u, long, octal, code] = groups;
    if (octal !== undefined) return String.fromCodePoint(parseInt(octal, 8));
    const hex = x ?? u ?? long;
    if (hex !== undefined) return fromHex(hex, x !== undefined ? 2 : u !== undefined ? 4 : 8, line);
    if (code === undefined) throw new TemplateSyntaxError('a backslash at the end of a text', line);
    if (code === 'N') throw new TemplateSyntaxError('names of characters (\\N{…}) are not supported', line);
    return SIMPLE[code] ?? whole;
  });
};

const fromHex = (hex: string, length: number, line: number): string => {
  const code = hex.length === length && /^[0-9a-fA-F]+$/.test(hex) ? parseInt(hex, 16) : NaN;
  if (!(code <= 0x10ffff)) throw new TemplateSyntaxError(`"${hex}" is no code of a character`, line);
  return String.fromCodePoint(code);
};
