import { sorted } from './compare.js';
import { floatText } from './decimal.js';
import { Dict } from './dict.js';
import { typeError, valueError } from './error.js';
import { intText } from './numbers.js';
import { isTrue, valuesOf } from './sequences.js';
import { Float, Tuple, isInt, isList, isText, textOf, typeName, type Runtime, type Value } from './values.js';

export interface JsonOptions {
  readonly ensureAscii: boolean;
  /** Spaces or the text itself; null: one line. */
  readonly indent: string | null;
  readonly itemSeparator: string;
  readonly keySeparator: string;
  readonly sortKeys: boolean;
}

/** The options of `json.dumps` as a template gives them; undefined: not given. */
export const jsonOptions = (
  given: {
    readonly ensureAscii: Value | undefined;
    readonly indent: Value | undefined;
    readonly separators: Value | undefined;
    readonly sortKeys: Value | undefined;
  },
  runtime: Runtime,
): JsonOptions => {
  const { indent = null, separators = null } = given;
  let pair: readonly Value[] = [indent === null ? ', ' : ',', ': '];
  if (separators !== null) {
    pair = [...valuesOf(separators, runtime)];
    if (pair.length !== 2) throw valueError(`expected 2 separators, got ${pair.length}`);
  }
  const [itemSeparator, keySeparator] = pair.map((separator) => {
    if (isText(separator)) return textOf(separator);
    throw typeError(`separators must be str, not ${typeName(separator)}`);
  }) as [string, string];
  return {
    ensureAscii: isTrue(given.ensureAscii ?? false, runtime),
    indent: indentOf(indent, runtime),
    itemSeparator,
    keySeparator,
    sortKeys: isTrue(given.sortKeys ?? false, runtime),
  };
};

const indentOf = (indent: Value, { budget }: Runtime): string | null => {
  if (indent === null) return null;
  if (isText(indent)) return textOf(indent);
  if (!isInt(indent)) throw typeError(`can't multiply sequence by non-int of type '${typeName(indent)}'`);
  const width = Math.max(0, Number(indent));
  budget.makes(width);
  return ' '.repeat(width);
};

/** `json.dumps(value, …)`; TypeError: a value that JSON has no form for. */
export const jsonText = (value: Value, options: JsonOptions, runtime: Runtime): string => {
  const { budget } = runtime;
  const pieces: string[] = [];
  let length = 0;
  const put = (piece: string): void => {
    length += piece.length;
    budget.makes(length, piece.length);
    pieces.push(piece);
  };
  const { indent } = options;
  const lineAt = (depth: number): string => {
    if (indent === null) return '';
    budget.makes(indent.length * depth + 1);
    return `\n${indent.repeat(depth)}`;
  };

  const write = (part: Value, depth: number): void => {
    const simple = scalarText(part, options.ensureAscii);
    if (simple !== null) put(simple);
    else if (isList(part)) writeAll('[', part, ']', depth, write);
    else if (part instanceof Tuple) writeAll('[', part.items, ']', depth, write);
    else if (part instanceof Dict) writeAll('{', entriesOf(part, options.sortKeys, runtime), '}', depth, writeEntry);
    else throw typeError(`Object of type ${typeName(part)} is not JSON serializable`);
  };

  const writeEntry = ([key, item]: readonly [string, Value], depth: number): void => {
    put(jsonString(key, options.ensureAscii) + options.keySeparator);
    write(item, depth);
  };

  const writeAll = <T>(
    open: string,
    items: readonly T[],
    close: string,
    depth: number,
    writeOne: (item: T, depth: number) => void,
  ): void => {
    put(open);
    if (items.length > 0) {
      budget.enter();
      const line = lineAt(depth + 1);
      items.forEach((item, index) => {
        budget.step();
        put((index > 0 ? options.itemSeparator : '') + line);
        writeOne(item, depth + 1);
      });
      put(lineAt(depth));
      budget.leave();
    }
    put(close);
  };

  write(value, 0);
  return pieces.join('');
};

const scalarText = (value: Value, ensureAscii: boolean): string | null => {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (isText(value)) return jsonString(textOf(value), ensureAscii);
  if (typeof value === 'number' || typeof value === 'bigint') return intText(value);
  return value instanceof Float ? floatJson(value.value) : null;
};

const floatJson = (value: number): string => {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value < 0 ? '-Infinity' : 'Infinity';
  return floatText(value);
};

const entriesOf = (dict: Dict, sortKeys: boolean, runtime: Runtime): readonly (readonly [string, Value])[] => {
  const named = ([key, value]: readonly [Value, Value]): readonly [string, Value] => [keyText(key), value];
  if (!sortKeys) return Array.from(dict.entries(), named);
  // As Python: by key and value, which fails where either cannot be ordered.
  const pairs = Array.from(dict.entries(), (entry) => new Tuple(entry));
  return sorted(pairs, (pair) => pair, false, runtime).map(({ items: [key, value] }) => named([key!, value!]));
};

const keyText = (key: Value): string => {
  if (isText(key)) return textOf(key);
  const text = scalarText(key, true);
  if (text === null) throw typeError(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
  return text;
};

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\f': '\\f', '\b': '\\b' },
};

const unit = (character: string): string =>
  ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const jsonString = (text: string, ensureAscii: boolean): string =>
  `"${text.replace(ensureAscii ? /["\\]|[^ -~]/g : /["\\\x00-\x1f]/g, unit)}"`;
