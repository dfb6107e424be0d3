import { Dict } from '../python/dict.js';
import { typeError } from '../python/error.js';
import { Markup, PythonObject, Tuple, Undefined, type Arguments, type Runtime, type Value } from '../python/values.js';

/** What a macro's body is given for each of its parameters; undefined: nothing. */
export type MacroBody = (values: readonly (Value | undefined)[], runtime: Runtime) => string;

export interface MacroShape {
  /** null: the body of a `{% call %}`. */
  readonly name: string | null;
  readonly params: readonly string[];
  /** It reads `caller`, `kwargs`, `varargs`. */
  readonly caller: boolean;
  readonly kwargs: boolean;
  readonly varargs: boolean;
}

export class Macro extends PythonObject {
  readonly typeName = 'Macro';
  override readonly module = 'jinja2.runtime';
  readonly #shape: MacroShape;
  readonly #body: MacroBody;

  constructor(shape: MacroShape, body: MacroBody) {
    super();
    this.#shape = shape;
    this.#body = body;
  }

  override attribute(name: string): Value | undefined {
    const { params, caller, kwargs, varargs } = this.#shape;
    switch (name) {
      case 'name':
        return this.#shape.name;
      case 'arguments':
        return new Tuple(params);
      case 'catch_kwargs':
        return kwargs;
      case 'catch_varargs':
        return varargs;
      case 'caller':
        return caller;
      case 'explicit_caller':
        return params.includes('caller');
      default:
        return undefined;
    }
  }

  override repr(): string {
    return `<Macro ${this.#shape.name === null ? 'anonymous' : `'${this.#shape.name}'`}>`;
  }

  override readonly call = (args: Arguments, runtime: Runtime): Value => {
    const { budget } = runtime;
    budget.enter();
    const text = this.#body(this.#values(args), runtime);
    budget.leave();
    return runtime.autoescape ? new Markup(text) : text;
  };

  /** Parameters, then the caller, `kwargs` and `varargs` as far as the body reads them. */
  #values({ positional, named }: Arguments): (Value | undefined)[] {
    const { name, params, caller, kwargs, varargs } = this.#shape;
    const rest = new Map(named);
    const values = positional.slice(0, params.length);
    let foundCaller = values.length === params.length && params.includes('caller');
    for (const param of params.slice(values.length)) {
      values.push(rest.get(param)!);
      rest.delete(param);
      if (param === 'caller') foundCaller = true;
    }
    if (caller && !foundCaller) {
      const given = rest.get('caller') ?? null;
      rest.delete('caller');
      values.push(given ?? new Undefined(() => 'No caller defined'));
    }
    const shown = name === null ? 'None' : `'${name}'`;
    if (kwargs) values.push(new Dict(rest));
    else if (rest.size > 0) {
      const [first] = rest.keys();
      throw typeError(
        rest.has('caller')
          ? `macro ${shown} was invoked with two values for the special caller argument. This is most likely a bug.`
          : `macro ${shown} takes no keyword argument '${first}'`,
      );
    }
    if (varargs) values.push(new Tuple(positional.slice(params.length)));
    else if (positional.length > params.length) {
      throw typeError(`macro ${shown} takes not more than ${params.length} argument(s)`);
    }
    return values;
  }
}
