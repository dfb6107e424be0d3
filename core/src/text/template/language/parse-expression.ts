import { int, type ArithmeticOperator } from '../python/numbers.js';
import type { Comparison } from '../python/operators.js';
import { Float } from '../python/values.js';
import type { Call, CallArguments, Expression, Filter } from './nodes.js';
import { describe, matches, type TokenStream } from './token-stream.js';

const COMPARISONS = ['==', '!=', '<', '<=', '>', '>='];
const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map([
  ...(['true', 'True'] as const).map((name) => [name, true] as const),
  ...(['false', 'False'] as const).map((name) => [name, false] as const),
  ...(['none', 'None'] as const).map((name) => [name, null] as const),
]);

export const NO_CALL_ARGUMENTS: CallArguments = { args: [], named: [], moreArgs: null, moreNamed: null };

/** Expressions, by descending through their precedence: condition, or, and, not, compare, +, ~, *, **, sign. */
export class ExpressionParser {
  protected readonly stream: TokenStream;

  constructor(stream: TokenStream) {
    this.stream = stream;
  }

  expression(withCondition = true): Expression {
    return this.stream.nested(() => (withCondition ? this.#condition() : this.#or()));
  }

  /** One expression, or several with commas between them. */
  tuple(options: { withCondition?: boolean; inParentheses?: boolean } = {}): Expression {
    const { withCondition = true, inParentheses = false } = options;
    let { line } = this.stream;
    const items: Expression[] = [];
    let isTuple = false;
    for (;;) {
      if (items.length > 0) this.stream.expect('operator', ',');
      if (this.isTupleEnd()) break;
      items.push(this.expression(withCondition));
      if (!this.stream.isOperator(',')) break;
      isTuple = true;
      ({ line } = this.stream);
    }
    if (!isTuple) {
      if (items.length === 1) return items[0]!;
      if (!inParentheses) throw this.stream.error(`expected an expression, got ${describe(this.stream.current)}`);
    }
    return { type: 'tuple', items, line };
  }

  /** What may follow the last comma. jinja2 means `in` and `recursive` of loops too, and never recognises them. */
  protected isTupleEnd(): boolean {
    const { stream } = this;
    return stream.is('variable_end') || stream.is('block_end') || stream.isOperator(')');
  }

  #condition(): Expression {
    let { line } = this.stream;
    let then = this.#or();
    while (this.stream.skipIf('name', 'if')) {
      const test = this.#or();
      const otherwise = this.stream.skipIf('name', 'else') ? this.stream.nested(() => this.#condition()) : null;
      then = { type: 'condition', test, then, otherwise, line };
      ({ line } = this.stream);
    }
    return then;
  }

  #or(): Expression {
    return this.#chain('or', () => this.#chain('and', () => this.#not()));
  }

  #chain(type: 'and' | 'or', part: () => Expression): Expression {
    let { line } = this.stream;
    let left = part();
    let links = 0;
    while (this.stream.skipIf('name', type)) {
      links = this.stream.link(links);
      left = { type, left, right: part(), line };
      ({ line } = this.stream);
    }
    return left;
  }

  #not(): Expression {
    if (!this.stream.isName('not')) return this.#compare();
    const { line } = this.stream.next();
    return { type: 'not', of: this.stream.nested(() => this.#not()), line };
  }

  #compare(): Expression {
    const { line } = this.stream;
    const first = this.#sum();
    const rest: [Comparison, Expression][] = [];
    for (;;) {
      const { stream } = this;
      if (stream.isOperator(...COMPARISONS)) rest.push([stream.next().value as Comparison, this.#sum()]);
      else if (stream.skipIf('name', 'in')) rest.push(['in', this.#sum()]);
      else if (stream.isName('not') && matches(stream.following, 'name', 'in')) {
        stream.next();
        stream.next();
        rest.push(['not in', this.#sum()]);
      } else break;
    }
    return rest.length === 0 ? first : { type: 'compare', first, rest, line };
  }

  #sum(): Expression {
    return this.#arithmetic(['+', '-'], () => this.#concat());
  }

  #concat(): Expression {
    const { line } = this.stream;
    const parts = [this.#product()];
    while (this.stream.skipIf('operator', '~')) parts.push(this.#product());
    return parts.length === 1 ? parts[0]! : { type: 'concat', parts, line };
  }

  #product(): Expression {
    return this.#arithmetic(['*', '/', '//', '%'], () => this.#arithmetic(['**'], () => this.#unary(true)));
  }

  #arithmetic(operators: readonly string[], part: () => Expression): Expression {
    let { line } = this.stream;
    let left = part();
    let links = 0;
    while (this.stream.isOperator(...operators)) {
      links = this.stream.link(links);
      const op = this.stream.next().value as ArithmeticOperator;
      left = { type: 'arithmetic', op, left, right: part(), line };
      ({ line } = this.stream);
    }
    return left;
  }

  /** A sign binds closer than a filter. */
  #unary(withFilters: boolean): Expression {
    const { stream } = this;
    let node: Expression;
    if (stream.isOperator('-', '+')) {
      const { value, line } = stream.next();
      node = { type: 'sign', op: value as '+' | '-', of: stream.nested(() => this.#unary(false)), line };
    } else {
      node = this.primary();
    }
    node = this.#postfix(node);
    return withFilters ? this.#filters(node) : node;
  }

  protected primary(): Expression {
    const { stream } = this;
    const token = stream.current;
    const { line } = token;
    switch (token.type) {
      case 'name': {
        stream.next();
        const constant = CONSTANTS.get(token.value);
        return constant === undefined
          ? { type: 'name', name: token.value, line }
          : { type: 'const', value: constant, line };
      }
      case 'string': {
        let value = '';
        while (stream.is('string')) value += stream.next().value;
        return { type: 'const', value, line };
      }
      case 'integer':
        stream.next();
        return { type: 'const', value: int(BigInt(token.value.replaceAll('_', '').replace(/^0+(?=\d)/, ''))), line };
      case 'float':
        stream.next();
        return { type: 'const', value: new Float(Number(token.value.replaceAll('_', ''))), line };
      default:
        return this.#bracketed();
    }
  }

  #bracketed(): Expression {
    const { stream } = this;
    const { line } = stream;
    if (stream.skipIf('operator', '(')) {
      const node = this.tuple({ inParentheses: true });
      stream.expect('operator', ')');
      return node;
    }
    if (stream.skipIf('operator', '[')) return { type: 'list', items: this.#until(']', () => this.expression()), line };
    if (stream.skipIf('operator', '{')) {
      const entry = (): readonly [Expression, Expression] => {
        const key = this.expression();
        stream.expect('operator', ':');
        return [key, this.expression()];
      };
      return { type: 'dict', entries: this.#until('}', entry), line };
    }
    throw stream.error(`unexpected ${describe(stream.current)}`);
  }

  /** Parts with commas between them, and perhaps one after the last. */
  #until<T>(close: string, part: () => T): T[] {
    const parts: T[] = [];
    while (!this.stream.isOperator(close)) {
      if (parts.length > 0) this.stream.expect('operator', ',');
      if (this.stream.isOperator(close)) break;
      parts.push(part());
    }
    this.stream.expect('operator', close);
    return parts;
  }

  #postfix(start: Expression): Expression {
    let node = start;
    for (let links = 0; ; links = this.stream.link(links)) {
      if (this.stream.isOperator('.')) node = this.#dotted(node);
      else if (this.stream.isOperator('[')) node = this.#subscript(node);
      else if (this.stream.isOperator('(')) node = this.call(node);
      else return node;
    }
  }

  #filters(start: Expression): Expression {
    let node = start;
    for (let links = 0; ; links = this.stream.link(links)) {
      if (this.stream.isOperator('|')) node = this.filters(node);
      else if (this.stream.isName('is')) node = this.#test(node);
      else if (this.stream.isOperator('(')) node = this.call(node);
      else return node;
    }
  }

  #dotted(of: Expression): Expression {
    const { line } = this.stream.next();
    const token = this.stream.next();
    if (token.type === 'name') return { type: 'attribute', of, name: token.value, line };
    if (token.type !== 'integer') throw this.stream.error('expected a name or a number behind the point', token.line);
    return {
      type: 'item',
      of,
      key: { type: 'const', value: int(BigInt(token.value.replaceAll('_', ''))), line },
      line,
    };
  }

  #subscript(of: Expression): Expression {
    const { stream } = this;
    const { line } = stream.next();
    const bound = (): Expression | null => (stream.isOperator(':', ']', ',') ? null : this.expression());
    const keys: Expression[] = [];
    while (!stream.isOperator(']')) {
      if (keys.length > 0) stream.expect('operator', ',');
      const start = stream.isOperator(':') ? null : this.expression();
      if (stream.skipIf('operator', ':')) {
        const stop = bound();
        const step = stream.skipIf('operator', ':') ? bound() : null;
        if (keys.length > 0 || !stream.isOperator(']'))
          throw stream.error('a slice stands alone in its brackets', line);
        stream.next();
        return { type: 'slice', of, start, stop, step, line };
      }
      keys.push(start!);
    }
    stream.next();
    const key: Expression = keys.length === 1 ? keys[0]! : { type: 'tuple', items: keys, line };
    return { type: 'item', of, key, line };
  }

  protected call(of: Expression): Call {
    const { line } = this.stream;
    return { type: 'call', of, ...this.#arguments(), line };
  }

  #arguments(): CallArguments {
    const { stream } = this;
    const { line } = stream.expect('operator', '(');
    const args: Expression[] = [];
    const named: { name: string; value: Expression }[] = [];
    let moreArgs: Expression | null = null;
    let moreNamed: Expression | null = null;
    const ensure = (fits: boolean): void => {
      if (!fits) throw stream.error('these arguments cannot follow each other', line);
    };
    let first = true;
    while (!stream.isOperator(')')) {
      if (!first) {
        stream.expect('operator', ',');
        if (stream.isOperator(')')) break;
      }
      first = false;
      if (stream.skipIf('operator', '*')) {
        ensure(moreArgs === null && moreNamed === null);
        moreArgs = this.expression();
      } else if (stream.skipIf('operator', '**')) {
        ensure(moreNamed === null);
        moreNamed = this.expression();
      } else if (stream.is('name') && matches(stream.following, 'operator', '=')) {
        ensure(moreNamed === null);
        const name = stream.next().value;
        stream.next();
        if (named.some((other) => other.name === name)) throw stream.error(`the argument ${name} is given twice`);
        named.push({ name, value: this.expression() });
      } else {
        ensure(moreArgs === null && moreNamed === null && named.length === 0);
        args.push(this.expression());
      }
    }
    stream.expect('operator', ')');
    return { args, named, moreArgs, moreNamed };
  }

  #dottedName(): string {
    let name = this.stream.expect('name').value;
    while (this.stream.skipIf('operator', '.')) name += `.${this.stream.expect('name').value}`;
    return name;
  }

  protected filters(of: Expression | null, startInline?: boolean): Filter;
  protected filters(of: Expression | null, startInline = false): Expression | null {
    let node = of;
    let inline = startInline;
    while (inline || this.stream.isOperator('|')) {
      if (!inline) this.stream.next();
      inline = false;
      const { line } = this.stream;
      const name = this.#dottedName();
      const args = this.stream.isOperator('(') ? this.#arguments() : NO_CALL_ARGUMENTS;
      node = { type: 'filter', of: node, name, ...args, line };
    }
    return node;
  }

  #test(of: Expression): Expression {
    const { stream } = this;
    const { line } = stream.next();
    const negated = stream.skipIf('name', 'not');
    const name = this.#dottedName();
    let args = NO_CALL_ARGUMENTS;
    if (stream.isOperator('(')) args = this.#arguments();
    else if (this.#beginsArgument()) {
      if (stream.isName('is')) throw stream.error('tests with "is" cannot be chained');
      args = { ...NO_CALL_ARGUMENTS, args: [this.#postfix(this.primary())] };
    }
    const test: Expression = { type: 'test', of, name, ...args, line };
    return negated ? { type: 'not', of: test, line } : test;
  }

  #beginsArgument(): boolean {
    const { stream } = this;
    if (stream.is('name')) return !stream.isName('else', 'or', 'and');
    return stream.is('string') || stream.is('integer') || stream.is('float') || stream.isOperator('[', '{');
  }
}
