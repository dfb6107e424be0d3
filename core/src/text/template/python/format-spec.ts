import { charactersOf, lengthOf } from './characters.js';
import { exponential, fixed, floatText, general } from './decimal.js';
import { PythonError, typeError, valueError } from './error.js';
import { intText, toFloat, type Int } from './numbers.js';
import { str } from './text-form.js';
import { Float, isInt, isText, textOf, typeName, type Markup, type Runtime, type Value } from './values.js';

/** `[[fill]align][sign][z][#][0][width][grouping][.precision][type]` */
interface Spec {
  readonly fill: string;
  readonly align: '<' | '>' | '=' | '^' | '';
  readonly sign: '+' | '-' | ' ';
  readonly alternate: boolean;
  readonly width: number;
  readonly grouping: ',' | '_' | '';
  readonly precision: number | null;
  readonly type: string;
}

const SPEC = /^(?:(.)?([<>=^]))?([-+ ])?(z)?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/su;

const parseSpec = (text: string, name: string): Spec => {
  const match = SPEC.exec(text);
  if (match === null) throw valueError(`Invalid format specifier '${text}' for object of type '${name}'`);
  const [, fill, align, sign, , alternate, zero, width, grouping, precision, type = ''] = match;
  return {
    fill: fill ?? (zero === undefined ? ' ' : '0'),
    align: (align ?? (zero === undefined ? '' : '=')) as Spec['align'],
    sign: (sign ?? '-') as Spec['sign'],
    alternate: alternate !== undefined,
    width: Number(width ?? 0),
    grouping: (grouping ?? '') as Spec['grouping'],
    precision: precision === undefined ? null : Number(precision),
    type,
  };
};

/** `format(value, spec)`. */
export const formatValue = (value: Value, spec: string, runtime: Runtime): string => {
  if (isText(value)) return formatText(textOf(value), spec, runtime);
  if (value instanceof Float) return formatFloat(value.value, parseSpec(spec, 'float'), spec, runtime);
  if (isInt(value) && spec !== '') {
    return formatInt(typeof value === 'boolean' ? Number(value) : value, parseSpec(spec, typeName(value)), runtime);
  }
  if (spec !== '') throw typeError(`unsupported format string passed to ${typeName(value)}.__format__`);
  return str(value, runtime);
};

const formatText = (text: string, specText: string, runtime: Runtime): string => {
  if (specText === '') return text;
  const spec = parseSpec(specText, 'str');
  if (spec.type !== '' && spec.type !== 's') throw unknownCode(spec.type, 'str');
  if (spec.sign !== '-' || /^.?[<>=^]?-/su.test(specText))
    throw valueError('Sign not allowed in string format specifier');
  if (spec.alternate) throw valueError('Alternate form (#) not allowed in string format specifier');
  if (spec.grouping !== '') throw valueError(`Cannot specify '${spec.grouping}' with 's'.`);
  const explicit = /^.?=/su.test(specText);
  if (explicit) throw valueError("'=' alignment not allowed in string format specifier");
  const cut = spec.precision === null ? text : charactersOf(text).slice(0, spec.precision).join('');
  return pad('', cut, { ...spec, align: spec.align === '=' ? '<' : spec.align || '<' }, runtime);
};

const unknownCode = (type: string, name: string): PythonError =>
  valueError(`Unknown format code '${type}' for object of type '${name}'`);

/** Fills up to the width; `=` puts the filling between sign and digits. */
const pad = (sign: string, body: string, spec: Pick<Spec, 'fill' | 'align' | 'width'>, { budget }: Runtime): string => {
  const missing = spec.width - lengthOf(sign) - lengthOf(body);
  if (missing <= 0) return sign + body;
  budget.makes(spec.width * spec.fill.length + body.length);
  const filling = (count: number): string => spec.fill.repeat(count);
  switch (spec.align) {
    case '<':
      return sign + body + filling(missing);
    case '^':
      return filling(Math.floor(missing / 2)) + sign + body + filling(Math.ceil(missing / 2));
    case '=':
      return sign + filling(missing) + body;
    default:
      return filling(missing) + sign + body;
  }
};

const signOf = (negative: boolean, sign: Spec['sign']): string => (negative ? '-' : sign === '-' ? '' : sign);

const BASES: Readonly<Record<string, number>> = { b: 2, o: 8, x: 16, X: 16 };

const formatInt = (value: Int, spec: Spec, runtime: Runtime): string => {
  const { type } = spec;
  if ('eEfFgG%'.includes(type) && type !== '') return formatFloat(toFloat(value), spec, '', runtime);
  if (!['', 'd', 'n', 'b', 'o', 'x', 'X', 'c'].includes(type)) throw unknownCode(type, 'int');
  if (spec.precision !== null) throw valueError('Precision not allowed in integer format specifier');
  if (type === 'c') {
    if (spec.sign !== '-') throw valueError("Sign not allowed with integer format specifier 'c'");
    return pad('', characterOf(value), { ...spec, align: spec.align || '<' }, runtime);
  }
  const negative = value < 0;
  const size = negative ? -value : value;
  const base = BASES[type];
  if (spec.grouping === ',' && base !== undefined) throw valueError(`Cannot specify ',' with '${type}'.`);
  let digits = base === undefined ? intText(size) : size.toString(base);
  if (type === 'X') digits = digits.toUpperCase();
  const prefix = spec.alternate && base !== undefined ? `0${type}` : '';
  return finishNumber(signOf(negative, spec.sign) + prefix, digits, '', spec, base === undefined ? 3 : 4, runtime);
};

export const characterOf = (value: Int): string => {
  if (!(value >= 0 && value <= 0x10ffff)) throw new PythonError('OverflowError', '%c arg not in range(0x110000)');
  return String.fromCodePoint(Number(value));
};

const formatFloat = (value: number, spec: Spec, specText: string, runtime: Runtime): string => {
  const { type } = spec;
  if (type === '' && specText === '') return floatText(value);
  if (!['', 'e', 'E', 'f', 'F', 'g', 'G', 'n', '%'].includes(type)) throw unknownCode(type, 'float');
  runtime.budget.makes(spec.precision ?? 0);
  const negative = value < 0 || Object.is(value, -0);
  let text = floatBody(Math.abs(value), spec);
  if (/[EFG]/.test(type)) text = text.toUpperCase();
  const [, whole = '', rest = ''] = /^(\d*)(.*)$/s.exec(text) ?? [];
  const finite = Number.isFinite(value);
  const body = finite ? [whole, rest] : ['', text];
  return finishNumber(signOf(negative, spec.sign), body[0]!, body[1]!, spec, 3, runtime);
};

const floatBody = (value: number, { type, precision, alternate }: Spec): string => {
  if (!Number.isFinite(value)) return floatText(value) + (type === '%' ? '%' : '');
  const point = (text: string): string => (alternate && !text.includes('.') ? `${text}.` : text);
  switch (type.toLowerCase()) {
    case 'f':
      return point(fixed(value, precision ?? 6));
    case 'e':
      return exponential(value, precision ?? 6, alternate);
    case '%':
      return `${point(fixed(value * 100, precision ?? 6))}%`;
    case 'g':
    case 'n':
      return general(value, precision ?? 6, alternate);
    default:
      return precision === null ? floatText(value) : withPoint(value, precision);
  }
};

/** As `g`, but with a digit behind the point, and one digit less before it becomes an exponent. */
const withPoint = (value: number, precision: number): string => {
  const text = general(value, precision);
  if (text.includes('e')) return text;
  const count = text.replace('.', '').replace(/^0+/, '').length;
  if (!text.includes('.'))
    return count >= Math.max(1, precision) && value !== 0
      ? exponential(value, count - 1).replace(/\.?0+e/, 'e')
      : `${text}.0`;
  return text;
};

/** Groups the digits and fills up; zeros that fill up are grouped too. */
const finishNumber = (
  sign: string,
  digits: string,
  rest: string,
  spec: Spec,
  every: number,
  runtime: Runtime,
): string => {
  const { grouping, fill, align, width } = spec;
  const grouped = (text: string): string =>
    grouping === '' ? text : text.replace(new RegExp(`\\B(?=(.{${every}})+$)`, 'gs'), grouping);
  let body = grouped(digits);
  if (grouping !== '' && fill === '0' && align === '=' && digits !== '') {
    runtime.budget.makes(width);
    let padded = digits;
    while (sign.length + grouped(padded).length + rest.length < width) padded = `0${padded}`;
    body = grouped(padded);
  }
  return pad(sign, body + rest, { ...spec, align: align || '>' }, runtime);
};

/** A text that was marked as HTML takes no specification. */
export const formatMarkup = (value: Markup, spec: string): string => {
  if (spec !== '') throw valueError('Unsupported format specification for Markup.');
  return value.text;
};
