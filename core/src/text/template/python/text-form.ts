import type { Budget } from '../limits.js';
import { isPrintable } from './characters.js';
import { floatText } from './decimal.js';
import { Dict, DictView } from './dict.js';
import { typeError } from './error.js';
import { intText } from './numbers.js';
import { Float, Markup, PythonObject, Tuple, isList, isText, type Runtime, type Value } from './values.js';

/** What `str` makes of a value. */
export const str = (value: Value, runtime: Runtime): string => {
  if (typeof value === 'string') return value;
  if (value instanceof Markup) return value.text;
  if (value instanceof PythonObject) {
    const text = value.str(runtime);
    if (text !== null) return text;
  }
  return repr(value, runtime);
};

/** `str`, but a text stays what it is, safe or not. */
export const softStr = (value: Value, runtime: Runtime): string | Markup =>
  isText(value) ? value : str(value, runtime);

/** What `repr` makes of a value. */
export const repr = (value: Value, runtime: Runtime): string => {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number' || typeof value === 'bigint') return intText(value);
  if (value instanceof Float) return floatText(value.value);
  if (typeof value === 'string') return quoted(value, runtime.budget);
  if (value instanceof Markup) return `Markup(${quoted(value.text, runtime.budget)})`;
  if (isList(value)) return joined('[', value, ']', runtime);
  if (value instanceof Tuple) return joined('(', value.items, value.items.length === 1 ? ',)' : ')', runtime);
  if (value instanceof Dict) return dictText(value, runtime);
  if (value instanceof DictView) {
    const items = [...iterableOf(value.iterate())];
    return `${value.typeName}(${joined('[', items, ']', runtime)})`;
  }
  const own = value.repr(runtime);
  if (own !== null) return own;
  throw typeError(`a ${value.typeName} has no text form: it would show where it lies in memory`);
};

const iterableOf = (iterator: Iterator<Value>): Iterable<Value> => ({ [Symbol.iterator]: () => iterator });

const joined = (open: string, items: readonly Value[], close: string, runtime: Runtime): string => {
  const { budget } = runtime;
  budget.enter();
  let text = open;
  for (let index = 0; index < items.length; index++) {
    budget.step();
    const item = repr(items[index]!, runtime);
    budget.makes(text.length + item.length, item.length);
    text += index === 0 ? item : `, ${item}`;
  }
  budget.leave();
  return text + close;
};

const dictText = (dict: Dict, runtime: Runtime): string => {
  const { budget } = runtime;
  budget.enter();
  let text = '{';
  for (const [key, value] of dict.entries()) {
    budget.step();
    const pair = `${repr(key, runtime)}: ${repr(value, runtime)}`;
    budget.makes(text.length + pair.length, pair.length);
    text += text === '{' ? pair : `, ${pair}`;
  }
  budget.leave();
  return `${text}}`;
};

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** `repr(str)`. */
const quoted = (text: string, budget: Budget): string => {
  budget.makes(text.length);
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replace(/[\\'"]|[^\x20-\x26\x28-\x7e]/gu, (character) => {
    if (character === '"' || character === "'") return character === quote ? `\\${character}` : character;
    return ESCAPES[character] ?? (isPrintable(character) ? character : escaped(character));
  });
  return quote + body + quote;
};

/** `\x7f`, `\u200d`, `\U000e0001`. */
export const escaped = (character: string): string => {
  const code = character.codePointAt(0);
  const hex = code!.toString(16);
  if (code! <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code! <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
};

/** `ascii(value)`. */
export const ascii = (value: Value, runtime: Runtime): string =>
  repr(value, runtime).replace(/[^\x00-\x7f]/gu, (character) => escaped(character));

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };

/** A value as text that is safe in HTML; what is safe already stays. */
export const escapeHtml = (value: Value, runtime: Runtime): Markup => {
  if (value instanceof Markup) return value;
  const text = str(value, runtime);
  runtime.budget.makes(text.length);
  return new Markup(text.replace(/[&<>"']/g, (character) => HTML[character]!));
};
