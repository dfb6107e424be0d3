import { equals } from '../python/compare.js';
import { typeError } from '../python/error.js';
import { iterate, lengthIfAny, listOf } from '../python/sequences.js';
import {
  Callable,
  PythonObject,
  Stream,
  Tuple,
  Undefined,
  type Arguments,
  type Runtime,
  type Value,
} from '../python/values.js';

/** Renders the loop for other values, one level deeper. */
export type Recurse = (values: Value, depth: number) => Value;

/** The variable `loop`. */
export class LoopContext extends PythonObject {
  readonly typeName = 'LoopContext';
  override readonly module = 'jinja2.runtime';
  readonly #values: Value;
  readonly #runtime: Runtime;
  readonly #recurse: Recurse | null;
  readonly #depth0: number;
  #iterator: Iterator<Value>;
  #index0 = -1;
  #length: number | undefined;
  /** The next value, if `last` or `nextitem` had to look. */
  #after: IteratorResult<Value> | undefined;
  #current: Value | undefined;
  #before: Value | undefined;
  #changed: Tuple | undefined;

  constructor(values: Value, runtime: Runtime, recurse: Recurse | null, depth0: number) {
    super();
    this.#values = values;
    this.#runtime = runtime;
    this.#recurse = recurse;
    this.#depth0 = depth0;
    this.#iterator = iterate(values, runtime);
  }

  /** The next value; undefined: the end. */
  next(): Value | undefined {
    const result = this.#after ?? this.#iterator.next();
    this.#after = undefined;
    if (result.done === true) return undefined;
    this.#index0++;
    this.#before = this.#current;
    this.#current = result.value;
    return result.value;
  }

  #peek(): IteratorResult<Value> {
    this.#after ??= this.#iterator.next();
    return this.#after;
  }

  #count(): number {
    if (this.#length !== undefined) return this.#length;
    const known = lengthIfAny(this.#values, this.#runtime);
    if (known !== undefined) return (this.#length = known);
    const rest = listOf(new Stream(this.#iterator), this.#runtime);
    this.#iterator = rest[Symbol.iterator]();
    const ahead = this.#after !== undefined && this.#after.done !== true ? 1 : 0;
    return (this.#length = rest.length + this.#index0 + 1 + ahead);
  }

  override attribute(name: string): Value | undefined {
    switch (name) {
      case 'index0':
        return this.#index0;
      case 'index':
        return this.#index0 + 1;
      case 'revindex0':
        return this.#count() - this.#index0 - 1;
      case 'revindex':
        return this.#count() - this.#index0;
      case 'first':
        return this.#index0 === 0;
      case 'last':
        return this.#peek().done === true;
      case 'length':
        return this.#count();
      case 'depth':
        return this.#depth0 + 1;
      case 'depth0':
        return this.#depth0;
      case 'previtem':
        return this.#index0 === 0 ? new Undefined(() => 'there is no previous item') : this.#before;
      case 'nextitem': {
        const next = this.#peek();
        return next.done === true ? new Undefined(() => 'there is no next item') : next.value;
      }
      case 'cycle':
        return new Callable('cycle', ({ positional }) => this.#cycle(positional), 'method');
      case 'changed':
        return new Callable('changed', ({ positional }) => this.#hasChanged(new Tuple(positional)), 'method');
      default:
        return undefined;
    }
  }

  #cycle(values: readonly Value[]): Value {
    if (values.length === 0) throw typeError('no items for cycling given');
    return values[this.#index0 % values.length]!;
  }

  #hasChanged(values: Tuple): boolean {
    const changed = this.#changed === undefined || !equals(this.#changed, values, this.#runtime.budget);
    if (changed) this.#changed = values;
    return changed;
  }

  override length(): number {
    return this.#count();
  }

  override *iterate(): Iterator<Value> {
    for (let value = this.next(); value !== undefined; value = this.next()) yield new Tuple([value, this]);
  }

  override repr(): string {
    return `<LoopContext ${this.#index0 + 1}/${this.#count()}>`;
  }

  override readonly call = ({ positional }: Arguments): Value => {
    if (this.#recurse === null) {
      throw typeError("The loop must have the 'recursive' marker to be called recursively.");
    }
    const [values] = positional;
    if (values === undefined || positional.length > 1) throw typeError('a recursive loop takes one argument');
    return this.#recurse(values, this.#depth0 + 1);
  };
}
