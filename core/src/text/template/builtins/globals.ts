import { bind } from '../python/arguments.js';
import { Dict } from '../python/dict.js';
import { PythonError, typeError, valueError } from '../python/error.js';
import { fromKeys } from '../python/methods.js';
import { indexOf } from '../python/numbers.js';
import { unpack } from '../python/operators.js';
import { listOf } from '../python/sequences.js';
import { repr, str } from '../python/text-form.js';
import {
  Callable,
  PythonObject,
  Range,
  isText,
  textOf,
  type Runtime,
  type Value,
  type Arguments,
} from '../python/values.js';
import { strftime } from '../strftime.js';

/** Thrown by a template's `raise_exception`; its message is the template's own. */
export class TemplateRaised extends Error {}

/** As in Python's sandbox for templates. */
const MOST_RANGE = 100_000;

/** `namespace(…)`: an object whose fields a template may set. */
export class Namespace extends PythonObject {
  readonly typeName = 'TemplateNamespace';
  readonly #fields: Dict;

  constructor(fields: Dict) {
    super();
    for (const key of fields.keys()) checkField(key);
    this.#fields = fields;
  }

  assign(field: string, value: Value): void {
    checkField(field);
    this.#fields.set(field, value);
  }

  override attribute(name: string): Value | undefined {
    return this.#fields.get(name);
  }

  override repr(runtime: Runtime): string {
    return `<Namespace ${repr(this.#fields, runtime)}>`;
  }
}

const checkField = (name: Value): void => {
  if (isText(name) && textOf(name).startsWith('_')) {
    throw new PythonError(
      'SecurityError',
      `Chat templates cannot store underscore-prefixed attributes on a namespace, but got '${textOf(name)}'. Please rename the attribute.`,
    );
  }
};

/** `dict(…)`. */
const makeDict = ({ positional, named }: Arguments, runtime: Runtime): Dict => {
  if (positional.length > 1) throw typeError(`dict expected at most 1 argument, got ${positional.length}`);
  const [source] = positional;
  const dict = new Dict(source instanceof Dict ? source.entries() : []);
  if (source !== undefined && !(source instanceof Dict)) {
    for (const pair of listOf(source, runtime)) {
      const [key, value] = unpack(pair, 2, runtime);
      dict.set(key!, value!);
    }
  }
  for (const [name, value] of named) dict.set(name, value);
  return dict;
};

class DictMaker extends PythonObject {
  typeName = 'TemplateDict';
  override call = makeDict;
  override attribute(name: string): Value | undefined {
    return name === 'fromkeys' ? new Callable('fromkeys', fromKeys, 'method') : undefined;
  }
}

const range = ({ positional, named }: Arguments): Range => {
  if (named.size > 0) throw typeError('range() takes no keyword arguments');
  if (positional.length < 1 || positional.length > 3) {
    throw typeError(`range expected 1 to 3 arguments, got ${positional.length}`);
  }
  const numbers = positional.map((value) => indexOf(value));
  const [start, stop, step = 1] = numbers.length === 1 ? [0, numbers[0]] : numbers;
  if (step === 0) throw valueError('range() arg 3 must not be zero');
  const made = new Range(start, stop!, step);
  if (!(made.count <= MOST_RANGE)) {
    throw new PythonError(
      'OverflowError',
      `Range too big. The sandbox blocks ranges larger than MAX_RANGE (${MOST_RANGE}).`,
    );
  }
  return made;
};

/** `cycler(…)`: gives its values in turn. */
class Cycler extends PythonObject {
  typeName = 'Cycler';
  override module = 'jinja2.utils';
  readonly #items: readonly Value[];
  #at = 0;
  constructor(items: readonly Value[]) {
    super();
    if (items.length === 0) throw new PythonError('RuntimeError', 'at least one item has to be provided');
    this.#items = items;
  }
  override attribute(name: string): Value | undefined {
    switch (name) {
      case 'items':
        return [...this.#items];
      case 'pos':
        return this.#at;
      case 'current':
        return this.#items[this.#at];
      case 'next':
        return new Callable('next', () => this.#next(), 'method');
      case 'reset':
        return new Callable('reset', () => ((this.#at = 0), null), 'method');
      default:
        return undefined;
    }
  }
  #next(): Value {
    const value = this.#items[this.#at]!;
    this.#at = (this.#at + 1) % this.#items.length;
    return value;
  }
}

/** `joiner(…)`: nothing when it is first called, its text afterwards. */
class Joiner extends PythonObject {
  typeName = 'Joiner';
  override module = 'jinja2.utils';
  readonly #separator: Value;
  #used = false;
  constructor(separator: Value) {
    super();
    this.#separator = separator;
  }
  override attribute(name: string): Value | undefined {
    if (name === 'sep') return this.#separator;
    return name === 'used' ? this.#used : undefined;
  }
  override call = () => {
    const text = this.#used ? this.#separator : '';
    this.#used = true;
    return text;
  };
}

const raiseException = (args: Arguments, runtime: Runtime): never => {
  throw new TemplateRaised(str(bind('raise_exception', args, ['message'], 1)[0]!, runtime));
};

const strftimeNow = (args: Arguments, { now }: Runtime): Value => {
  const format = bind('strftime_now', args, ['format'], 1)[0];
  if (!isText(format!)) throw typeError('strftime() argument 1 must be str');
  return strftime(now, textOf(format));
};

const globalFunction = (name: string, call: (args: Arguments, runtime: Runtime) => Value): [string, Value] => [
  name,
  new Callable(name, call, 'function'),
];

/** What every template has besides its variables. */
export const GLOBALS: ReadonlyMap<string, Value> = new Map([
  globalFunction('range', range),
  ['dict', new DictMaker()],
  globalFunction('namespace', (args, runtime) => new Namespace(makeDict(args, runtime))),
  globalFunction('cycler', ({ positional }) => new Cycler(positional)),
  globalFunction('joiner', (args) => {
    const separator = bind('joiner', args, ['sep'], 0)[0];
    return new Joiner(separator === undefined ? ', ' : separator);
  }),
  globalFunction('lipsum', () => {
    throw typeError('lipsum() makes random text, which is not supported');
  }),
  globalFunction('raise_exception', raiseException),
  globalFunction('strftime_now', strftimeNow),
]);
