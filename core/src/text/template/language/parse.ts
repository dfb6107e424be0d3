import { stripEnd } from '../python/characters.js';
import { tokenize } from './lexer.js';
import type { Target, Expression, Signature, Statement } from './nodes.js';
import { ExpressionParser } from './parse-expression.js';
import { TemplateSyntaxError } from './syntax-error.js';
import { describe, TokenStream } from './token-stream.js';

/** The statements of a template. Throws TemplateSyntaxError, and LimitExceeded for one that is nested too deeply. */
export const parse = (source: string): Statement[] => new StatementParser(new TokenStream(tokenize(source))).template();

class StatementParser extends ExpressionParser {
  /** Tags that end the blocks that are open, innermost last. */
  readonly #open: { readonly tag: string; readonly ends: readonly string[]; readonly line: number }[] = [];

  template(): Statement[] {
    return this.#body([]);
  }

  /** Text, prints and tags up to one of the end tags, which becomes the current token. */
  #body(ends: readonly string[]): Statement[] {
    const { stream } = this;
    const body: Statement[] = [];
    let parts: (string | Expression)[] = [];
    let { line } = stream;
    const flush = (): void => {
      if (parts.length > 0) body.push({ type: 'output', parts, line });
      parts = [];
    };
    for (;;) {
      const token = stream.current;
      if (parts.length === 0) ({ line } = token);
      if (token.type === 'end') {
        if (ends.length > 0) throw this.#unclosed();
        flush();
        return body;
      }
      stream.next();
      if (token.type === 'data') {
        parts.push(token.value);
      } else if (token.type === 'variable_begin') {
        parts.push(this.tuple());
        stream.expect('variable_end');
      } else {
        flush();
        if (stream.isName(...ends)) return body;
        body.push(stream.nested(() => this.#statement()));
        stream.expect('block_end');
      }
    }
  }

  #unclosed(): TemplateSyntaxError {
    const { tag, ends, line } = this.#open.at(-1)!;
    const wanted = ends.map((end) => `{% ${end} %}`).join(' or ');
    return new TemplateSyntaxError(
      `the template ends, but {% ${tag} %} of line ${line} has no ${wanted}`,
      this.stream.line,
    );
  }

  /** The body of a block, from the end of its tag; the end tag stays current, or is passed. */
  #block(tag: string, line: number, ends: readonly string[], pass = true): Statement[] {
    this.stream.skipIf('operator', ':');
    this.stream.expect('block_end');
    this.#open.push({ tag, ends, line });
    const body = this.#body(ends);
    this.#open.pop();
    if (pass) this.stream.next();
    return body;
  }

  #statement(): Statement {
    const { stream } = this;
    if (!stream.is('name')) throw stream.error(`expected the name of a tag, got ${describe(stream.current)}`);
    const { value: tag, line } = stream.next();
    switch (tag) {
      case 'for':
        return this.#for(line);
      case 'if':
        return this.#if(line);
      case 'set':
        return this.#set(line);
      case 'with':
        return this.#with(line);
      case 'macro': {
        const { value: name } = stream.expect('name');
        const signature = this.#signature();
        return { type: 'macro', name, ...signature, body: this.#block(tag, line, ['endmacro']), line };
      }
      case 'call':
        return this.#call(line);
      case 'filter': {
        const filter = this.filters(null, true);
        return { type: 'filter-block', filter, body: this.#block(tag, line, ['endfilter']), line };
      }
      case 'print':
        return this.#print(line);
      case 'block':
        return this.#namedBlock(line);
      case 'autoescape': {
        const on = this.expression();
        return { type: 'autoescape', on, body: this.#block(tag, line, ['endautoescape']), line };
      }
      case 'generation':
        return { type: 'generation', body: this.#block(tag, line, ['endgeneration']), line };
      case 'break':
      case 'continue':
        return { type: tag, line };
      case 'extends':
      case 'include':
      case 'import':
      case 'from':
        return this.#otherTemplate(tag, line);
      default:
        throw this.#unknown(tag, line);
    }
  }

  #unknown(tag: string, line: number): TemplateSyntaxError {
    const open = this.#open.at(-1);
    const still = open === undefined ? '' : `; {% ${open.tag} %} of line ${open.line} is still open`;
    return new TemplateSyntaxError(`{% ${tag} %} is no tag that can stand here${still}`, line);
  }

  #for(line: number): Statement {
    const { stream } = this;
    const target = this.#target();
    stream.expect('name', 'in');
    const of = this.tuple({ withCondition: false });
    const test = stream.skipIf('name', 'if') ? this.expression() : null;
    const recursive = stream.skipIf('name', 'recursive');
    const body = this.#block('for', line, ['endfor', 'else'], false);
    const hasElse = stream.next().value === 'else';
    const otherwise = hasElse ? this.#block('else', line, ['endfor']) : [];
    return { type: 'for', target, of, test, recursive, body, otherwise, line };
  }

  #if(line: number): Statement {
    const branches: { test: Expression; body: Statement[] }[] = [];
    for (;;) {
      const test = this.tuple({ withCondition: false });
      branches.push({ test, body: this.#block('if', line, ['elif', 'else', 'endif'], false) });
      const end = this.stream.next().value;
      if (end === 'elif') continue;
      const otherwise = end === 'else' ? this.#block('else', line, ['endif']) : [];
      return { type: 'if', branches, otherwise, line };
    }
  }

  #set(line: number): Statement {
    const target = this.#target(true);
    if (this.stream.skipIf('operator', '=')) return { type: 'set', target, value: this.tuple(), line };
    const filter = this.stream.isOperator('|') ? this.filters(null) : null;
    return { type: 'set-block', target, filter, body: this.#block('set', line, ['endset']), line };
  }

  #with(line: number): Statement {
    const targets: Target[] = [];
    const values: Expression[] = [];
    while (!this.stream.is('block_end')) {
      if (targets.length > 0) this.stream.expect('operator', ',');
      targets.push(this.#target());
      this.stream.expect('operator', '=');
      values.push(this.expression());
    }
    return { type: 'with', targets, values, body: this.#block('with', line, ['endwith']), line };
  }

  #call(line: number): Statement {
    const signature = this.stream.isOperator('(') ? this.#signature() : { params: [], defaults: [] };
    const call = this.expression();
    if (call.type !== 'call') throw this.stream.error('{% call %} wants a call', line);
    return { type: 'call-block', call, ...signature, body: this.#block('call', line, ['endcall']), line };
  }

  #signature(): Signature {
    const { stream } = this;
    const params: string[] = [];
    const defaults: Expression[] = [];
    stream.expect('operator', '(');
    while (!stream.isOperator(')')) {
      if (params.length > 0) stream.expect('operator', ',');
      const { value: name } = this.#assignable(stream.expect('name'));
      if (params.includes(name)) throw stream.error(`the parameter ${name} is there twice`);
      if (stream.skipIf('operator', '=')) defaults.push(this.expression());
      else if (defaults.length > 0) throw stream.error('a parameter without a default follows one with a default');
      params.push(name);
    }
    stream.next();
    return { params, defaults };
  }

  #print(line: number): Statement {
    const parts = [];
    while (!this.stream.is('block_end')) {
      if (parts.length > 0) this.stream.expect('operator', ',');
      parts.push(this.expression());
    }
    return { type: 'output', parts, line };
  }

  #namedBlock(line: number): Statement {
    const { stream } = this;
    const { value: name } = stream.expect('name');
    const scoped = stream.skipIf('name', 'scoped');
    const required = stream.skipIf('name', 'required');
    if (stream.isOperator('-')) throw stream.error('names of blocks have no hyphens');
    const body = this.#block('block', line, ['endblock']);
    const isBlank = (part: string | Expression): boolean => typeof part === 'string' && stripEnd(part, null) === '';
    if (required && !body.every((part) => part.type === 'output' && part.parts.every(isBlank))) {
      throw stream.error('a required block holds nothing but comments and blanks');
    }
    stream.skipIf('name', name);
    return { type: 'block', name, scoped, required, body, line };
  }

  #otherTemplate(tag: string, line: number): Statement {
    const template = this.expression();
    const names: string[] = [];
    const { stream } = this;
    if (tag === 'import') {
      stream.expect('name', 'as');
      names.push(stream.expect('name').value);
    }
    if (tag === 'from') {
      stream.expect('name', 'import');
      do {
        const { value } = stream.expect('name');
        names.push(stream.skipIf('name', 'as') ? stream.expect('name').value : value);
      } while (stream.skipIf('operator', ','));
    }
    if (tag === 'include' && stream.skipIf('name', 'ignore')) stream.expect('name', 'missing');
    if (tag !== 'extends' && stream.isName('with', 'without')) {
      stream.next();
      stream.expect('name', 'context');
    }
    return { type: 'other-template', tag, template, names, line };
  }

  /** Names with commas between them; `withFields`: also `name.field`. */
  #target(withFields = false): Target {
    const { stream } = this;
    const { line } = stream;
    const items: Target[] = [];
    let isTuple = false;
    for (;;) {
      if (items.length > 0) stream.expect('operator', ',');
      if (this.isTupleEnd()) break;
      items.push(this.#oneTarget(withFields));
      if (!stream.isOperator(',')) break;
      isTuple = true;
    }
    if (!isTuple && items.length === 0) throw stream.error(`expected a name, got ${describe(stream.current)}`);
    return isTuple ? { type: 'tuple', items, line } : items[0]!;
  }

  #oneTarget(withFields: boolean): Target {
    const { stream } = this;
    if (!stream.is('name')) return asTarget(this.primary());
    const { value: name, line } = stream.next();
    if (withFields && !RESERVED.includes(name) && stream.skipIf('operator', '.')) {
      return { type: 'field', name, field: stream.expect('name').value, line };
    }
    return { type: 'name', name: this.#assignable({ value: name, line }).value, line };
  }

  #assignable(token: { readonly value: string; readonly line: number }): { readonly value: string } {
    if (RESERVED.includes(token.value))
      throw this.stream.error(`nothing can be assigned to ${token.value}`, token.line);
    return token;
  }
}

const RESERVED: readonly string[] = ['true', 'false', 'none', 'True', 'False', 'None'];

/** `(a, b)` as a target. */
const asTarget = (node: Expression): Target => {
  if (node.type === 'name') return node;
  if (node.type === 'tuple') return { type: 'tuple', items: node.items.map(asTarget), line: node.line };
  throw new TemplateSyntaxError('nothing can be assigned to this expression', node.line);
};
