import { LimitExceeded } from '../limits.js';
import type { Token, TokenType } from './lexer.js';
import { TemplateSyntaxError } from './syntax-error.js';

/** Expressions or blocks inside each other. */
const DEEPEST = 150;

/** Operators, filters or attributes one after the other; Python's own compiler ends at some hundreds. */
const LONGEST = 2_000;

/** Reads tokens one after the other. */
export class TokenStream {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get current(): Token {
    return this.#tokens[this.#at]!;
  }

  get line(): number {
    return this.current.line;
  }

  /** The token after the current one. */
  get following(): Token {
    return this.#tokens[Math.min(this.#at + 1, this.#tokens.length - 1)]!;
  }

  next(): Token {
    const token = this.current;
    if (this.#at < this.#tokens.length - 1) this.#at++;
    return token;
  }

  is(type: TokenType, value?: string): boolean {
    return matches(this.current, type, value);
  }

  isName(...names: string[]): boolean {
    return this.current.type === 'name' && names.includes(this.current.value);
  }

  isOperator(...operators: string[]): boolean {
    return this.current.type === 'operator' && operators.includes(this.current.value);
  }

  skipIf(type: TokenType, value?: string): boolean {
    const found = this.is(type, value);
    if (found) this.next();
    return found;
  }

  expect(type: TokenType, value?: string): Token {
    if (this.is(type, value)) return this.next();
    const wanted = value === undefined ? DESCRIPTIONS[type] : `"${value}"`;
    throw this.error(`expected ${wanted}, got ${describe(this.current)}`);
  }

  error(message: string, line = this.line): TemplateSyntaxError {
    return new TemplateSyntaxError(message, line);
  }

  /** Another link of a chain. */
  link(count: number): number {
    if (count >= LONGEST) throw new LimitExceeded(`more than ${LONGEST} parts one after the other (line ${this.line})`);
    return count + 1;
  }

  /** Runs `read` one level deeper. */
  nested<T>(read: () => T): T {
    if (++this.#depth > DEEPEST)
      throw new LimitExceeded(`parts inside each other, ${DEEPEST} deep (line ${this.line})`);
    const result = read();
    this.#depth--;
    return result;
  }
}

export const matches = (token: Token, type: TokenType, value?: string): boolean =>
  token.type === type && (value === undefined || token.value === value);

const DESCRIPTIONS: Readonly<Record<TokenType, string>> = {
  data: 'text',
  variable_begin: '"{{"',
  variable_end: '"}}"',
  block_begin: '"{%"',
  block_end: '"%}"',
  name: 'a name',
  string: 'a text in quotes',
  integer: 'a number',
  float: 'a number',
  operator: 'an operator',
  end: 'the end of the template',
};

export const describe = ({ type, value }: Token): string =>
  type === 'name' || type === 'operator' || type === 'integer' || type === 'float' ? `"${value}"` : DESCRIPTIONS[type];
