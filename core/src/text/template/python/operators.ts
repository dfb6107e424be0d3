import { equals, inOrder, type Order } from './compare.js';
import { Dict, DictView } from './dict.js';
import { typeError, valueError } from './error.js';
import { arithmetic, indexOf, negate, numberOf, type ArithmeticOperator } from './numbers.js';
import { percentFormat } from './percent-format.js';
import { contains, likewise, listOf, valuesOf } from './sequences.js';
import { escapeHtml, str } from './text-form.js';
import {
  Markup,
  Tuple,
  Undefined,
  isInt,
  isList,
  isText,
  textOf,
  typeName,
  type Runtime,
  type Value,
} from './values.js';

/** `left op right`; TypeError: values that the operator does not know. */
export const binary = (op: ArithmeticOperator, left: Value, right: Value, runtime: Runtime): Value => {
  runtime.budget.step();
  const number = arithmetic(op, left, right, runtime.budget);
  if (number !== undefined) return number;
  // A text's `%` comes before what an undefined value says.
  if (op === '%' && isText(left)) return percentFormat(left, right, runtime);
  const joined = op === '+' ? add(left, right, runtime) : op === '*' ? repeat(left, right, runtime) : undefined;
  if (joined !== undefined) return joined;
  if (left instanceof Undefined) return left.fail();
  if (right instanceof Undefined) return right.fail();
  if (op === '-') {
    const keys = withoutKeys(left, right, runtime);
    if (keys !== undefined) return keys;
  }
  throw typeError(complaint(op, left, right));
};

const complaint = (op: ArithmeticOperator, left: Value, right: Value): string => {
  const [a, b] = [typeName(left), typeName(right)];
  if (op === '+' && (isText(left) || isList(left) || left instanceof Tuple)) {
    return `can only concatenate ${a} (not "${b}") to ${a}`;
  }
  const sequence = (value: Value): boolean => isText(value) || isList(value) || value instanceof Tuple;
  if (op === '*' && sequence(left)) return `can't multiply sequence by non-int of type '${b}'`;
  if (op === '*' && sequence(right)) return `can't multiply sequence by non-int of type '${a}'`;
  return `unsupported operand type(s) for ${op === '**' ? '** or pow()' : op}: '${a}' and '${b}'`;
};

const add = (left: Value, right: Value, runtime: Runtime): Value | undefined => {
  if (isText(left) && isText(right)) {
    if (left instanceof Markup) return new Markup(glue(left.text, escapeHtml(right, runtime).text, runtime));
    if (right instanceof Markup) return new Markup(glue(escapeHtml(left, runtime).text, right.text, runtime));
    return glue(left, right, runtime);
  }
  if (isList(left) && isList(right)) {
    runtime.budget.lists(left.length + right.length);
    return [...left, ...right];
  }
  if (left instanceof Tuple && right instanceof Tuple) {
    runtime.budget.lists(left.items.length + right.items.length);
    return new Tuple([...left.items, ...right.items]);
  }
  return undefined;
};

/** Two texts in one; the engine keeps both halves, so only the shorter one counts as work. */
export const glue = (left: string, right: string, { budget }: Runtime): string => {
  budget.makes(left.length + right.length, Math.min(left.length, right.length));
  return left + right;
};

const repeat = (left: Value, right: Value, runtime: Runtime): Value | undefined => {
  const [sequence, times] = isInt(left) ? [right, left] : [left, right];
  if (!isInt(times)) return undefined;
  const count = Math.max(0, indexOf(times));
  const total = (length: number): number => (length === 0 ? 0 : length * count);
  if (isText(sequence)) {
    const text = textOf(sequence);
    runtime.budget.makes(total(text.length));
    return likewise(sequence, text === '' ? '' : text.repeat(count));
  }
  const items = isList(sequence) ? sequence : sequence instanceof Tuple ? sequence.items : undefined;
  if (items === undefined) return undefined;
  runtime.budget.lists(total(items.length));
  const repeated = Array.from({ length: total(items.length) }, (_, index) => items[index % items.length]!);
  return isList(sequence) ? repeated : new Tuple(repeated);
};

/** Sets print in no order; this one is only good for counting and looking up. */
const withoutKeys = (left: Value, right: Value, runtime: Runtime): Value | undefined => {
  if (!(left instanceof DictView) || left.typeName !== 'dict_keys') return undefined;
  const gone = new Dict(listOf(right, runtime).map((key) => [key, null]));
  const kept = [...left.dict.keys()].filter((key) => !gone.has(key));
  return new DictView(new Dict(kept.map((key) => [key, null])), 'dict_keys');
};

/** `a ~ b`: the texts of all, joined. `escapes`: one that is marked as HTML makes the whole so. */
export const concatenate = (values: readonly Value[], escapes: boolean, runtime: Runtime): Value => {
  if (escapes && values.some((value) => value instanceof Markup)) {
    return new Markup(values.reduce<string>((text, value) => glue(text, escapeHtml(value, runtime).text, runtime), ''));
  }
  return values.reduce<string>((text, value) => glue(text, str(value, runtime), runtime), '');
};

export const unary = (op: '+' | '-', value: Value): Value => {
  const number = numberOf(value);
  if (number !== undefined) return op === '-' ? negate(number) : number;
  if (value instanceof Undefined) return value.fail();
  throw typeError(`bad operand type for unary ${op}: '${typeName(value)}'`);
};

export type Comparison = Order | '==' | '!=' | 'in' | 'not in';

export const compare = (op: Comparison, left: Value, right: Value, runtime: Runtime): boolean => {
  runtime.budget.step();
  switch (op) {
    case '==':
      return equals(left, right, runtime.budget);
    case '!=':
      return !equals(left, right, runtime.budget);
    case 'in':
      return contains(right, left, runtime);
    case 'not in':
      return !contains(right, left, runtime);
    default:
      return inOrder(op, left, right, runtime.budget);
  }
};

/** `a, b = value`. */
export const unpack = (value: Value, count: number, runtime: Runtime): Value[] => {
  const items: Value[] = [];
  let iterable: Iterable<Value>;
  try {
    iterable = valuesOf(value, runtime);
  } catch (error) {
    if (value instanceof Undefined) throw error;
    throw typeError(`cannot unpack non-iterable ${typeName(value)} object`);
  }
  for (const item of iterable) {
    if (items.length === count) throw valueError(`too many values to unpack (expected ${count})`);
    items.push(item);
  }
  if (items.length < count) {
    throw valueError(`not enough values to unpack (expected ${count}, got ${items.length})`);
  }
  return items;
};
