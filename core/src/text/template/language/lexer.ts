import { BLANK, stripEnd } from '../python/characters.js';
import { stringLiteral } from './string-literal.js';
import { TemplateSyntaxError } from './syntax-error.js';

const S = `[${BLANK}]`;
const TAG = new RegExp(
  `(?<raw>\\{%(?<rawSign>[-+]?)${S}*raw${S}*(?:-%\\}${S}*|%\\}))|(?<tag>\\{\\{|\\{#|\\{%)(?<sign>[-+]?)`,
  'g',
);
const RAW_END = new RegExp(`\\{%(?<sign>[-+]?)${S}*endraw${S}*(?:\\+%\\}|-%\\}${S}*|%\\}\\n?)`, 'g');
const COMMENT_END = new RegExp(`\\+#\\}|-#\\}${S}*|#\\}\\n?`, 'g');
const BLOCK_END = new RegExp(`\\+%\\}|-%\\}${S}*|%\\}\\n?`, 'y');
const VARIABLE_END = new RegExp(`-\\}\\}${S}*|\\}\\}`, 'y');

/** In this order: a number is no name, a fraction no integer. */
const INSIDE: readonly (readonly ['blank' | TokenType, RegExp])[] = [
  ['blank', new RegExp(`${S}+`, 'y')],
  ['float', /(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy],
  ['integer', /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy],
  ['name', /[\p{L}\p{N}\p{M}_\u00b7\u0387\u203f\u2040]+/uy],
  ['string', /'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"/sy],
  ['operator', /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y],
];

const IDENTIFIER = /^[\p{XIDS}_][\p{XIDC}]*$/u;
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** Python counts CR and CRLF as LF, and leaves the last newline of a template out. */
const normalise = (source: string): string => source.replace(/\r\n?/g, '\n').replace(/\n$/, '');

export type TokenType =
  | 'data'
  | 'variable_begin'
  | 'variable_end'
  | 'block_begin'
  | 'block_end'
  | 'name'
  | 'string'
  | 'integer'
  | 'float'
  | 'operator'
  | 'end';

export interface Token {
  readonly type: TokenType;
  /** Of data and strings what they stand for, else as it is written. */
  readonly value: string;
  readonly line: number;
}

/** Tokens of a template with `trim_blocks` and `lstrip_blocks`. Throws TemplateSyntaxError. */
export const tokenize = (source: string): Token[] => new Lexer(normalise(source)).run();

class Lexer {
  readonly #text: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  #line = 1;
  /** What was read last ended a line. */
  #lineStarting = true;

  constructor(text: string) {
    this.#text = text;
  }

  run(): Token[] {
    while (this.#at < this.#text.length) this.#outside();
    this.#tokens.push({ type: 'end', value: '', line: this.#line });
    return this.#tokens;
  }

  #outside(): void {
    TAG.lastIndex = this.#at;
    const match = TAG.exec(this.#text);
    if (match === null) {
      this.#data(this.#text.slice(this.#at));
      this.#advance(this.#text.length);
      return;
    }
    const { raw, rawSign = '', tag = '', sign = '' } = match.groups!;
    this.#before(match.index, raw === undefined ? sign : rawSign, tag !== '{{');
    const line = this.#line;
    this.#advance(match.index + match[0].length);
    if (raw !== undefined) this.#raw(line);
    else if (tag === '{#') this.#comment(line);
    else if (tag === '{{') this.#inside('variable_begin', 'variable_end', VARIABLE_END, line);
    else this.#inside('block_begin', 'block_end', BLOCK_END, line);
  }

  /** The text before a tag: a `-` takes its blanks, and a block the blanks of its line. */
  #before(end: number, sign: string, isBlock: boolean): void {
    const text = this.#text.slice(this.#at, end);
    let kept = text;
    if (sign === '-') kept = stripEnd(text, null);
    else if (sign !== '+' && isBlock) {
      const lineStart = text.lastIndexOf('\n') + 1;
      const blanks = text.slice(lineStart);
      if ((lineStart > 0 || this.#lineStarting) && blanks !== '' && stripEnd(blanks, null) === '') {
        kept = text.slice(0, lineStart);
      }
    }
    this.#data(kept);
    this.#advance(end);
  }

  #data(value: string): void {
    if (value !== '') this.#tokens.push({ type: 'data', value, line: this.#line });
  }

  #advance(end: number): void {
    for (let at = this.#at; at < end; at++) if (this.#text.charCodeAt(at) === 10) this.#line++;
    if (end > this.#at) this.#lineStarting = this.#text.charCodeAt(end - 1) === 10;
    this.#at = end;
  }

  #comment(line: number): void {
    COMMENT_END.lastIndex = this.#at;
    const match = COMMENT_END.exec(this.#text);
    if (match === null) throw new TemplateSyntaxError('the comment has no end: "#}" is missing', line);
    this.#advance(match.index + match[0].length);
  }

  #raw(line: number): void {
    RAW_END.lastIndex = this.#at;
    const match = RAW_END.exec(this.#text);
    if (match === null) throw new TemplateSyntaxError('{% raw %} has no {% endraw %}', line);
    this.#before(match.index, match.groups!['sign'] ?? '', true);
    this.#advance(match.index + match[0].length);
  }

  #inside(begin: TokenType, end: TokenType, endPattern: RegExp, line: number): void {
    this.#tokens.push({ type: begin, value: '', line });
    const open: string[] = [];
    for (;;) {
      endPattern.lastIndex = this.#at;
      const over = open.length === 0 ? endPattern.exec(this.#text) : null;
      if (over !== null) {
        this.#tokens.push({ type: end, value: over[0].trim(), line: this.#line });
        this.#advance(this.#at + over[0].length);
        return;
      }
      // The parser says what is missing.
      if (this.#at >= this.#text.length) return;
      this.#one(open);
    }
  }

  #one(open: string[]): void {
    for (const [type, pattern] of INSIDE) {
      pattern.lastIndex = this.#at;
      const match = pattern.exec(this.#text);
      if (match === null) continue;
      const [text] = match;
      if (type === 'operator') this.#balance(text, open);
      if (type !== 'blank') this.#tokens.push({ type, value: this.#valueOf(type, text), line: this.#line });
      this.#advance(this.#at + text.length);
      return;
    }
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at)!);
    throw new TemplateSyntaxError(`the character ${JSON.stringify(character)} has no meaning here`, this.#line);
  }

  #valueOf(type: TokenType, text: string): string {
    if (type === 'string') return stringLiteral(text.slice(1, -1), this.#line);
    if (type === 'name' && !IDENTIFIER.test(text)) {
      throw new TemplateSyntaxError(`"${text}" is no name`, this.#line);
    }
    return text;
  }

  #balance(operator: string, open: string[]): void {
    const closing = CLOSING[operator];
    if (closing !== undefined) open.push(closing);
    else if (operator === ')' || operator === ']' || operator === '}') {
      const expected = open.pop();
      if (expected === undefined) throw new TemplateSyntaxError(`unexpected "${operator}"`, this.#line);
      if (expected !== operator) {
        throw new TemplateSyntaxError(`unexpected "${operator}", expected "${expected}"`, this.#line);
      }
    }
  }
}
