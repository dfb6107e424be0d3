import { charactersOf, lengthOf } from './characters.js';
import { fixed, floatText, exponential, general } from './decimal.js';
import { Dict } from './dict.js';
import { PythonError, typeError, valueError } from './error.js';
import { characterOf } from './format-spec.js';
import { int, intText, numberOf, toFloat, type Int } from './numbers.js';
import { ascii, escapeHtml, repr, str } from './text-form.js';
import {
  Float,
  Markup,
  Tuple,
  Undefined,
  isList,
  isText,
  textOf,
  typeName,
  type Runtime,
  type Value,
} from './values.js';

type Form = (item: Value, conversion: string) => string;

const DIRECTIVE = /%(?:\(([^)]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?([hlL])?(.)?/gsu;

/** `text % value`. What goes into a text that is marked as HTML is escaped. */
export const percentFormat = (format: string | Markup, value: Value, runtime: Runtime): Value => {
  const values = value instanceof Tuple ? value.items : [value];
  const mapping = value instanceof Dict ? value : null;
  let next = 0;
  const take = (): Value => {
    if (next >= values.length) throw typeError('not enough arguments for format string');
    return values[next++]!;
  };
  const form = (item: Value, conversion: string): string => {
    const text =
      conversion === 's' ? str(item, runtime) : conversion === 'r' ? repr(item, runtime) : ascii(item, runtime);
    if (!(format instanceof Markup)) return text;
    return conversion === 's' ? escapeHtml(item, runtime).text : escapeHtml(text, runtime).text;
  };
  const text = textOf(format).replace(DIRECTIVE, (...match) => {
    const [whole = '', key, flags = '', widthText, precisionText, , conversion] = match;
    if (conversion === undefined) throw valueError('incomplete format');
    if (conversion === '%') return '%';
    const star = (given: string | undefined): number | null => {
      if (given === undefined) return null;
      if (given !== '*') return Number(given);
      const number = take();
      if (typeof number !== 'number' && typeof number !== 'boolean') throw typeError('* wants int');
      return Number(number);
    };
    if (key !== undefined && mapping === null) throw typeError('format requires a mapping');
    const width = star(widthText) ?? 0;
    const hasPrecision = /^%(\([^)]*\))?[-+ #0]*(\*|\d+)?\./su.test(whole);
    const precision = star(precisionText) ?? (hasPrecision ? 0 : null);
    const item = key === undefined ? take() : lookUp(mapping!, key);
    const left = flags.includes('-') || width < 0;
    const [sign, body] = convert(conversion, item, flags, precision, form, runtime);
    const missing = Math.abs(width) - lengthOf(sign) - lengthOf(body);
    if (missing <= 0) return sign + body;
    runtime.budget.makes(Math.abs(width));
    if (left) return sign + body + ' '.repeat(missing);
    const zeros = flags.includes('0') && !'srac'.includes(conversion);
    return zeros ? sign + '0'.repeat(missing) + body : ' '.repeat(missing) + sign + body;
  });
  // What has items of its own may stay unused.
  const unusedIsFine = mapping !== null || isList(value) || value instanceof Undefined;
  if (next < values.length && !unusedIsFine) {
    throw typeError('not all arguments converted during string formatting');
  }
  runtime.budget.makes(text.length);
  return format instanceof Markup ? new Markup(text) : text;
};

const lookUp = (mapping: Dict, key: string): Value => {
  const value = mapping.get(key);
  if (value === undefined) throw new PythonError('KeyError', `'${key}'`);
  return value;
};

/** Sign (or prefix) and body. */
const convert = (
  conversion: string,
  item: Value,
  flags: string,
  precision: number | null,
  form: Form,
  runtime: Runtime,
): [string, string] => {
  if (precision !== null) runtime.budget.makes(precision);
  if ('sra'.includes(conversion)) {
    const text = form(item, conversion);
    return ['', precision === null ? text : charactersOf(text).slice(0, precision).join('')];
  }
  if (conversion === 'c') return ['', oneCharacter(item)];
  if (!'diuoxXeEfFgG'.includes(conversion)) {
    throw valueError(`unsupported format character '${conversion}' (0x${conversion.codePointAt(0)!.toString(16)})`);
  }
  const number = item instanceof Undefined ? undefined : numberOf(item);
  const plus = flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  if ('diuoxX'.includes(conversion)) {
    const value = integerOf(conversion, number, item);
    return integerParts(conversion, value, plus, flags.includes('#'), precision);
  }
  if (number === undefined) {
    if (item instanceof Undefined) item.fail();
    throw typeError(`must be real number, not ${typeName(item)}`);
  }
  const value = toFloat(number);
  const negative = value < 0 || Object.is(value, -0);
  const text = floatBody(conversion.toLowerCase(), Math.abs(value), precision ?? 6, flags.includes('#'));
  return [negative ? '-' : plus, /[EFG]/.test(conversion) ? text.toUpperCase() : text];
};

const integerOf = (conversion: string, number: Int | Float | undefined, item: Value): Int => {
  if (number instanceof Float && 'diu'.includes(conversion)) {
    if (!Number.isFinite(number.value)) throw new PythonError('OverflowError', 'cannot convert float to integer');
    return int(BigInt(Math.trunc(number.value)));
  }
  if (number !== undefined && !(number instanceof Float)) return number;
  const wanted = 'diu'.includes(conversion) ? 'a real number is required' : 'an integer is required';
  throw typeError(`%${conversion} format: ${wanted}, not ${typeName(item)}`);
};

const BASES: Readonly<Record<string, [number, string]>> = { o: [8, '0o'], x: [16, '0x'], X: [16, '0X'] };

const integerParts = (
  conversion: string,
  value: Int,
  plus: string,
  alternate: boolean,
  precision: number | null,
): [string, string] => {
  const size = value < 0 ? -value : value;
  const [base, prefix] = BASES[conversion] ?? [10, ''];
  const digits = base === 10 ? intText(size) : size.toString(base);
  const body = (conversion === 'X' ? digits.toUpperCase() : digits).padStart(precision ?? 0, '0');
  return [(value < 0 ? '-' : plus) + (alternate ? prefix : ''), body];
};

const floatBody = (conversion: string, value: number, precision: number, alternate: boolean): string => {
  if (!Number.isFinite(value)) return floatText(value);
  if (conversion === 'g') return general(value, precision, alternate);
  if (conversion === 'e') return exponential(value, precision, alternate);
  const text = fixed(value, precision);
  return alternate && precision === 0 ? `${text}.` : text;
};

const oneCharacter = (item: Value): string => {
  if (isText(item)) {
    if (lengthOf(textOf(item)) === 1) return textOf(item);
    throw typeError('%c requires int or char');
  }
  const number = numberOf(item);
  if (number === undefined || number instanceof Float) throw typeError('%c requires int or char');
  return characterOf(number);
};
