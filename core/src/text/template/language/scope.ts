import type { Runtime, Value } from '../python/values.js';

/** What a template was given, and what it assigns outside of loops and macros; blocks read it by name. */
export class Context {
  readonly #given: ReadonlyMap<string, Value>;
  readonly #own = new Map<string, Value>();
  readonly blocks: ReadonlyMap<string, BlockFunction>;

  constructor(given: ReadonlyMap<string, Value>, blocks: ReadonlyMap<string, BlockFunction>) {
    this.#given = given;
    this.blocks = blocks;
  }

  resolve(name: string): Value | undefined {
    return this.#own.has(name) ? this.#own.get(name) : this.#given.get(name);
  }

  assign(name: string, value: Value): void {
    this.#own.set(name, value);
  }

  /** With more names, for a block that sees the variables around it. */
  derived(more: ReadonlyMap<string, Value>): Context {
    return new Context(new Map([...this.#given, ...this.#own, ...more]), this.blocks);
  }
}

/** Gives the text of a block. */
export type BlockFunction = (context: Context, runtime: Runtime) => string;

/** The variables of one call of a function (the template itself, a macro, a block, a recursive loop) while it runs. */
export class Scope {
  readonly parent: Scope | null;
  readonly context: Context;
  readonly runtime: Runtime;
  /** By place; undefined: no value. */
  readonly variables: (Value | undefined)[] = [];
  /** The text that a block's filter is given. */
  filtered = '';
  /** The text so far. */
  #out = '';

  constructor(parent: Scope | null, context: Context, runtime: Runtime) {
    this.parent = parent;
    this.context = context;
    this.runtime = runtime;
  }

  write(text: string): void {
    this.runtime.budget.makes(this.#out.length + text.length, text.length);
    this.#out += text;
  }

  /** The text so far, which is gone afterwards. */
  take(): string {
    const text = this.#out;
    this.#out = '';
    return text;
  }

  /** What `run` writes goes to a text of its own. */
  capture<T>(run: () => T): {
    readonly result: T;
    readonly text: string;
  } {
    const before = this.take();
    const result = run();
    const text = this.take();
    this.#out = before;
    return { result, text };
  }
}
