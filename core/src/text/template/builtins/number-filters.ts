import { strip } from '../python/characters.js';
import { fixed, ratioOf, divideHalfEven } from '../python/decimal.js';
import { PythonError, typeError } from '../python/error.js';
import { indexOf, int, numberOf, toFloat, type Int } from '../python/numbers.js';
import { binary } from '../python/operators.js';
import { isTrue } from '../python/sequences.js';
import { Float, Undefined, isText, textOf, typeName, type Value, type Runtime } from '../python/values.js';
import { define, or } from './define.js';
import type { Filter } from './types.js';

const FLOAT = /^[+-]?(?:(?:\d+(?:_\d+)*)?\.?(?:\d+(?:_\d+)*)?(?:e[+-]?\d+(?:_\d+)*)?)$/i;
const NAMED_FLOAT = /^([+-]?)(inf|infinity|nan)$/i;

/** `float(text)`; null: it is none. */
const parseFloatText = (given: string): number | null => {
  const text = strip(given, null);
  const named = NAMED_FLOAT.exec(text);
  if (named !== null) return named[2]!.toLowerCase() === 'nan' ? NaN : named[1] === '-' ? -Infinity : Infinity;
  if (!FLOAT.test(text) || !/^[+-]?\.?\d/.test(text)) return null;
  return Number(text.replaceAll('_', ''));
};

const PREFIXES: Readonly<Record<string, number>> = { '0x': 16, '0o': 8, '0b': 2 };

/** `int(text, base)`; null: it is none. */
const parseIntText = (given: string, base: number): Int | null => {
  if (base !== 0 && (base < 2 || base > 36)) return null;
  const match = /^([+-]?)(0[xob](?=[\da-z_]))?(.+)$/is.exec(strip(given, null));
  if (match === null) return null;
  const [, sign = '', prefix = '', rest = ''] = match;
  const prefixBase = PREFIXES[prefix.toLowerCase()];
  const usesPrefix = prefixBase !== undefined && (base === 0 || base === prefixBase);
  const radix = base === 0 ? (usesPrefix ? prefixBase : 10) : base;
  const body = usesPrefix ? rest.replace(/^_/, '') : prefix + rest;
  if (!/^[\da-z]+(_[\da-z]+)*$/i.test(body)) return null;
  const digits = body.replaceAll('_', '');
  if (base === 0 && !usesPrefix && /^0+[1-9]/.test(digits)) return null;
  let value = 0n;
  if (radix === 10) {
    if (!/^\d+$/.test(digits) || digits.length > 4300) return null;
    value = BigInt(digits);
  } else {
    for (const digit of digits.slice(0, 100_000)) {
      const worth = parseInt(digit, 36);
      if (!(worth < radix)) return null;
      value = value * BigInt(radix) + BigInt(worth);
    }
  }
  return int(sign === '-' ? -value : value);
};

/** `int(number)`; null: it is no number that has one. */
const truncated = (value: number): Int | null => (Number.isFinite(value) ? int(BigInt(Math.trunc(value))) : null);

const toInt = (value: Value, absent: Value, base: number): Value => {
  if (value instanceof Undefined) value.fail();
  if (isText(value)) {
    const text = textOf(value);
    const parsed = parseIntText(text, base);
    if (parsed !== null) return parsed;
    const float = parseFloatText(text);
    const whole = float === null ? null : truncated(float);
    return whole === null ? absent : whole;
  }
  const number = numberOf(value);
  if (number === undefined) return absent;
  if (!(number instanceof Float)) return number;
  if (Math.abs(number.value) === Infinity) {
    throw new PythonError('OverflowError', 'cannot convert float infinity to integer');
  }
  const whole = truncated(number.value);
  return whole === null ? absent : whole;
};

const toFloatOr = (value: Value, absent: Value): Value => {
  if (value instanceof Undefined) value.fail();
  const number = isText(value) ? parseFloatText(textOf(value)) : null;
  if (number !== null) return new Float(number);
  const own = numberOf(value);
  return own === undefined ? absent : new Float(toFloat(own));
};

/** `round(number, digits)`: halves to the even one, of the number that the double really is. */
const rounded = (value: number, digits: number): number => {
  if (!Number.isFinite(value) || digits > 330) return value;
  if (digits < -330) return 0 * value;
  const sign = value < 0 || Object.is(value, -0) ? -1 : 1;
  if (digits >= 0) return sign * Number(fixed(value, digits));
  const [numerator, denominator] = ratioOf(Math.abs(value));
  const unit = 10n ** BigInt(-digits);
  return sign * Number(divideHalfEven(numerator, denominator * unit) * unit);
};

const roundedInt = (value: Int, digits: number): Int => {
  if (digits >= 0) return value;
  if (digits < -5_000) return 0;
  const whole = BigInt(value);
  const unit = 10n ** BigInt(-digits);
  const result = divideHalfEven(whole < 0n ? -whole : whole, unit) * unit;
  return int(whole < 0n ? -result : result);
};

const round = (value: Value, precision: Value, method: Value, runtime: Runtime): Value => {
  const how = isText(method) ? textOf(method) : '';
  if (!['common', 'ceil', 'floor'].includes(how)) {
    throw new PythonError('FilterArgumentError', 'method must be common, ceil or floor');
  }
  if (how === 'common') {
    const number = numberOf(value);
    if (number === undefined) throw typeError(`type ${typeName(value)} doesn't define __round__ method`);
    if (!(number instanceof Float)) return precision === null ? number : roundedInt(number, indexOf(precision));
    if (precision !== null) return new Float(rounded(number.value, indexOf(precision)));
    return truncated(rounded(number.value, 0)) ?? 0;
  }
  const unit = binary('**', 10, precision, runtime);
  const scaled = numberOf(binary('*', value, unit, runtime));
  if (scaled === undefined) throw typeError(`must be real number, not ${typeName(value)}`);
  return binary('/', whole(scaled, how === 'ceil'), unit, runtime);
};

const whole = (value: Int | Float, up: boolean): Int => {
  if (!(value instanceof Float)) return value;
  const result = truncated(up ? Math.ceil(value.value) : Math.floor(value.value));
  if (result === null) throw new PythonError('OverflowError', 'cannot convert float infinity to integer');
  return result;
};

const UNITS = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];

const fileSize = (value: Value, binaryUnits: boolean): string => {
  const size = toFloatOr(value, null);
  if (!(size instanceof Float))
    throw typeError(`float() argument must be a string or a real number, not '${typeName(value)}'`);
  const bytes = size.value;
  const base = binaryUnits ? 1024 : 1000;
  if (bytes === 1) return '1 Byte';
  if (bytes < base) {
    const count = truncated(bytes);
    if (count === null) throw new PythonError('ValueError', 'cannot convert float NaN to integer');
    return `${count} Bytes`;
  }
  let unit = base ** 2;
  let index = 0;
  while (bytes >= unit && index < UNITS.length - 1) {
    unit *= base;
    index++;
  }
  const name = binaryUnits ? `${UNITS[index]!.toUpperCase()}iB` : `${UNITS[index]}B`;
  return `${(base * bytes) / unit < 0 ? '-' : ''}${fixed((base * bytes) / unit, 1)} ${name}`;
};

export const NUMBER_FILTERS: Readonly<Record<string, Filter>> = {
  abs: define('abs', [], 0, (value) => {
    const number = numberOf(value);
    if (number === undefined) throw typeError(`bad operand type for abs(): '${typeName(value)}'`);
    if (number instanceof Float) return new Float(Math.abs(number.value));
    return number < 0 ? int(-BigInt(number)) : number;
  }),
  int: define('int', ['default', 'base'], 0, (value, [absent, base]) =>
    toInt(value, or(absent, 0), indexOf(or(base, 10))),
  ),
  float: define('float', ['default'], 0, (value, [absent]) => toFloatOr(value, or(absent, new Float(0)))),
  round: define('round', ['precision', 'method'], 0, (value, [precision, method], runtime) =>
    round(value, or(precision, 0), or(method, 'common'), runtime),
  ),
  filesizeformat: define('filesizeformat', ['binary'], 0, (value, [binaryUnits], runtime) =>
    fileSize(value, isTrue(or(binaryUnits, false), runtime)),
  ),
};
