import { lengthOf, splitLines } from '../python/characters.js';
import { inOrder } from '../python/compare.js';
import { Dict } from '../python/dict.js';
import { PythonError } from '../python/error.js';
import { repr } from '../python/text-form.js';
import { Tuple, isList, typeName, type Value, type Runtime } from '../python/values.js';
import { define } from './define.js';
import type { Filter } from './types.js';

const WIDTH = 80;

/** Keys that have no order among each other are ordered by their types. */
const byKey =
  (runtime: Runtime): ((a: readonly [Value, Value], b: readonly [Value, Value]) => number) =>
  (a, b) => {
    const less = (left: Value, right: Value): boolean => {
      try {
        return inOrder('<', left, right, runtime.budget);
      } catch (error) {
        if (!(error instanceof PythonError)) throw error;
        return typeName(left) < typeName(right);
      }
    };
    return less(a[0], b[0]) ? -1 : less(b[0], a[0]) ? 1 : 0;
  };

const sortedEntries = (dict: Dict, runtime: Runtime): [Value, Value][] => [...dict.entries()].sort(byKey(runtime));

/** `repr`, with the keys of dicts in order. */
const ordered = (value: Value, runtime: Runtime): Value => {
  const { budget } = runtime;
  budget.enter();
  let result = value;
  if (isList(value)) result = value.map((item) => ordered(item, runtime));
  else if (value instanceof Tuple) result = new Tuple(value.items.map((item) => ordered(item, runtime)));
  else if (value instanceof Dict) {
    result = new Dict(sortedEntries(value, runtime).map(([key, item]) => [key, ordered(item, runtime)]));
  }
  budget.leave();
  return result;
};

/** `pprint.pformat(value)`. */
class PrettyPrinter {
  readonly #runtime: Runtime;
  #text = '';

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  format(value: Value): string {
    this.#put(value, 0, 0, 0);
    return this.#text;
  }

  #write(text: string): void {
    this.#runtime.budget.makes(this.#text.length + text.length, text.length);
    this.#text += text;
  }

  #put(value: Value, indent: number, allowance: number, level: number): void {
    const { budget } = this.#runtime;
    budget.enter();
    const text = repr(value, this.#runtime);
    if (lengthOf(text) <= WIDTH - indent - allowance) this.#write(text);
    else if (value instanceof Dict) this.#putDict(value, indent, allowance + 1, level + 1);
    else if (isList(value)) this.#putItems('[', value, ']', indent, allowance, level + 1);
    else if (value instanceof Tuple && value.typeName === 'tuple') {
      this.#putItems('(', value.items, value.items.length === 1 ? ',)' : ')', indent, allowance, level + 1);
    } else if (typeof value === 'string') this.#putText(value, indent, allowance, level + 1);
    else this.#write(text);
    budget.leave();
  }

  #putDict(dict: Dict, indent: number, allowance: number, level: number): void {
    this.#write('{');
    const entries = [...dict.entries()];
    entries.forEach(([key, value], index) => {
      const isLast = index === entries.length - 1;
      const text = repr(key, this.#runtime);
      this.#write(`${text}: `);
      this.#put(value, indent + 1 + lengthOf(text) + 2, isLast ? allowance : 1, level);
      if (!isLast) this.#write(`,\n${' '.repeat(indent + 1)}`);
    });
    this.#write('}');
  }

  #putItems(
    open: string,
    items: readonly Value[],
    close: string,
    indent: number,
    allowance: number,
    level: number,
  ): void {
    this.#write(open);
    items.forEach((item, index) => {
      if (index > 0) this.#write(`,\n${' '.repeat(indent + 1)}`);
      this.#put(item, indent + 1, index === items.length - 1 ? allowance + close.length : 1, level);
    });
    this.#write(close);
  }

  #putText(text: string, givenIndent: number, givenAllowance: number, level: number): void {
    const outermost = level === 1;
    const indent = givenIndent + (outermost ? 1 : 0);
    const allowance = givenAllowance + (outermost ? 1 : 0);
    const chunks = this.#chunks(text, WIDTH - indent, allowance);
    const body = chunks.join(`\n${' '.repeat(indent)}`);
    this.#write(outermost && chunks.length > 1 ? `(${body})` : body);
  }

  /** Lines, and of long lines as many words as fit. */
  #chunks(text: string, width: number, allowance: number): string[] {
    const form = (part: string): string => repr(part, this.#runtime);
    const chunks: string[] = [];
    const lines = splitLines(text, true);
    lines.forEach((line, index) => {
      const isLast = index === lines.length - 1;
      const whole = form(line);
      if (lengthOf(whole) <= width - (isLast ? allowance : 0)) {
        chunks.push(whole);
        return;
      }
      const words = line.match(/\S+\s*|\s+/g) ?? [];
      let current = '';
      words.forEach((word, place) => {
        const room = width - (isLast && place === words.length - 1 ? allowance : 0);
        if (lengthOf(form(current + word)) <= room) {
          current += word;
          return;
        }
        if (current !== '') chunks.push(form(current));
        current = word;
      });
      if (current !== '') chunks.push(form(current));
    });
    return chunks;
  }
}

export const pprint: Filter = define('pprint', [], 0, (value, _, runtime) =>
  new PrettyPrinter(runtime).format(ordered(value, runtime)),
);
