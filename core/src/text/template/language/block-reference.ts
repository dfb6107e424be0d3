import {
  Markup,
  PythonObject,
  Undefined,
  isText,
  textOf,
  type Arguments,
  type Runtime,
  type Value,
} from '../python/values.js';
import type { Context } from './scope.js';

/** The variable `self`: the blocks of the template. */
export class TemplateReference extends PythonObject {
  readonly typeName = 'TemplateReference';
  override readonly module = 'jinja2.runtime';
  readonly #context: Context;
  constructor(context: Context) {
    super();
    this.#context = context;
  }
  override item(name: Value): Value | undefined {
    const known = isText(name) && this.#context.blocks.has(textOf(name));
    return known ? new BlockReference(textOf(name), this.#context) : undefined;
  }
  override repr(): string {
    return '<TemplateReference None>';
  }
}

/** `self.name`: a call gives the text of the block. */
export class BlockReference extends PythonObject {
  readonly typeName = 'BlockReference';
  override readonly module = 'jinja2.runtime';
  readonly #name: string;
  readonly #context: Context;
  constructor(name: string, context: Context) {
    super();
    this.#name = name;
    this.#context = context;
  }
  /** No template stands above this one. */
  static above(name: string): Undefined {
    return new Undefined(() => `there is no parent block called '${name}'.`);
  }
  override attribute(name: string): Value | undefined {
    if (name === 'name') return this.#name;
    return name === 'super' ? BlockReference.above(this.#name) : undefined;
  }
  override readonly call = (_args: Arguments, runtime: Runtime): Value => {
    const { budget } = runtime;
    budget.enter();
    const text = this.#context.blocks.get(this.#name)!(this.#context, runtime);
    budget.leave();
    return runtime.autoescape ? new Markup(text) : text;
  };
}
