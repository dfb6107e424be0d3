import { LimitExceeded, type Budget } from '../limits.js';
import { PythonError, typeError } from './error.js';
import { Float, typeName, type Value } from './values.js';

/** Bits of the largest integer that arithmetic makes. */
const MOST_BITS = 400_000;
/** Python prints no integer of more digits. */
const MOST_DIGITS = 4_300;

const zeroDivision = (message: string): PythonError => new PythonError('ZeroDivisionError', message);

export type Int = number | bigint;

/** The short form of an integer. */
export const int = (value: bigint): Int =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;

/** An int, a bool or a float as number; undefined: no number. */
export type Number_ = Int | Float;

export const numberOf = (value: Value): Number_ | undefined => {
  if (typeof value === 'number' || typeof value === 'bigint' || value instanceof Float) return value;
  return typeof value === 'boolean' ? Number(value) : undefined;
};

/** The value of `float(number)`. */
export const toFloat = (value: Number_): number => {
  if (value instanceof Float) return value.value;
  const number = Number(value);
  if (!Number.isFinite(number)) throw new PythonError('OverflowError', 'int too large to convert to float');
  return number;
};

/** `str(int)`. */
export const intText = (value: Int): string => {
  const text = String(value);
  if (text.length > MOST_DIGITS + Number(value < 0)) {
    throw new PythonError('ValueError', `Exceeds the limit (${MOST_DIGITS} digits) for integer string conversion`);
  }
  return text;
};

const bits = (value: Int): number =>
  typeof value === 'number' ? Math.ceil(Math.log2(Math.abs(value) + 1)) : value.toString(16).length * 4;

const bounded = (wanted: number, budget: Budget): void => {
  if (wanted > MOST_BITS) throw new LimitExceeded(`an integer of more than ${MOST_BITS} bits`);
  budget.steps(Math.ceil((wanted / 1024) ** 1.6) + 1);
};

/** An operation of integers that doubles do exactly as long as the result is a safe integer. */
const exact = (left: Int, right: Int, small: number, large: (a: bigint, b: bigint) => bigint): Int =>
  typeof left === 'number' && typeof right === 'number' && Number.isSafeInteger(small)
    ? small + 0
    : int(large(BigInt(left), BigInt(right)));

export const floorDivideInt = (left: Int, right: Int): Int => {
  if (Number(right) === 0) throw zeroDivision('integer division or modulo by zero');
  if (typeof left === 'number' && typeof right === 'number') {
    const quotient = Math.trunc(left / right);
    const remainder = left % right;
    if (Math.abs(left) < 2 ** 52) return (remainder !== 0 && remainder < 0 !== right < 0 ? quotient - 1 : quotient) + 0;
  }
  const [a, b] = [BigInt(left), BigInt(right)];
  const quotient = a / b;
  return int(a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient);
};

export const modInt = (left: Int, right: Int): Int => {
  if (Number(right) === 0) throw zeroDivision('integer division or modulo by zero');
  if (typeof left === 'number' && typeof right === 'number') {
    const remainder = left % right;
    return (remainder !== 0 && remainder < 0 !== right < 0 ? remainder + right : remainder) + 0;
  }
  const [a, b] = [BigInt(left), BigInt(right)];
  const remainder = a % b;
  return int(remainder !== 0n && remainder < 0n !== b < 0n ? remainder + b : remainder);
};

const powerInt = (left: Int, right: Int, budget: Budget): Value => {
  if (right < 0) {
    if (Number(left) === 0) throw zeroDivision('0.0 cannot be raised to a negative power');
    return new Float(toFloat(left) ** toFloat(right));
  }
  if (left === 0 || left === 1 || left === -1)
    return left === -1 && BigInt(right) % 2n === 0n ? 1 : right === 0 ? 1 : left;
  bounded(bits(left) * Number(right), budget);
  return int(BigInt(left) ** BigInt(right));
};

const multiplyInt = (left: Int, right: Int, budget: Budget): Int => {
  if (typeof left !== 'number' || typeof right !== 'number') bounded(bits(left) + bits(right), budget);
  return exact(left, right, Number(left) * Number(right), (a, b) => a * b);
};

const divide = (left: Number_, right: Number_): Float => {
  const [a, b] = [left, right].map((value) => (value instanceof Float ? value.value : value));
  const isFloat = left instanceof Float || right instanceof Float;
  if (Number(b) === 0) throw zeroDivision(isFloat ? 'float division by zero' : 'division by zero');
  if (!isFloat && (typeof a === 'bigint' || typeof b === 'bigint'))
    return new Float(divideLarge(BigInt(a!), BigInt(b!)));
  return new Float(toFloat(left) / toFloat(right));
};

/** To 64 significant bits and once more to a double. */
const divideLarge = (left: bigint, right: bigint): number => {
  const shift = BigInt(Math.max(0, bits(right) - bits(left) + 80));
  const quotient = (left << shift) / right;
  const value = Number(quotient) / 2 ** Number(shift);
  if (!Number.isFinite(value)) {
    throw new PythonError('OverflowError', 'integer division result too large for a float');
  }
  return value;
};

const modFloat = (a: number, b: number): number => {
  if (b === 0) throw zeroDivision('float modulo');
  const remainder = a % b;
  if (remainder === 0) return b < 0 ? -0 : 0;
  return remainder < 0 === b < 0 ? remainder : remainder + b;
};

const floorDivideFloat = (a: number, b: number): number => {
  if (b === 0) throw zeroDivision('float floor division by zero');
  const quotient = (a - modFloat(a, b)) / b;
  const floor = Math.floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
};

const powerFloat = (a: number, b: number): Float => {
  if (a === 0 && b < 0) throw zeroDivision('0.0 cannot be raised to a negative power');
  if (a < 0 && Number.isFinite(a) && Number.isFinite(b) && !Number.isInteger(b)) {
    throw typeError('complex numbers are not supported');
  }
  const value = a === 1 || (a === -1 && !Number.isFinite(b) && !Number.isNaN(b)) ? 1 : a ** b;
  if (!Number.isFinite(value) && Number.isFinite(a) && Number.isFinite(b)) {
    throw new PythonError('OverflowError', "(34, 'Numerical result out of range')");
  }
  return new Float(value);
};

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '//' | '%' | '**';

/** Of two numbers; undefined: one of them is none. */
export const arithmetic = (op: ArithmeticOperator, left: Value, right: Value, budget: Budget): Value | undefined => {
  const a = numberOf(left);
  const b = numberOf(right);
  if (a === undefined || b === undefined) return undefined;
  if (op === '/') return divide(a, b);
  if (a instanceof Float || b instanceof Float) return ofFloats(op, toFloat(a), toFloat(b));
  switch (op) {
    case '+':
      return exact(a, b, Number(a) + Number(b), (x, y) => x + y);
    case '-':
      return exact(a, b, Number(a) - Number(b), (x, y) => x - y);
    case '*':
      return multiplyInt(a, b, budget);
    case '//':
      return floorDivideInt(a, b);
    case '%':
      return modInt(a, b);
    case '**':
      return powerInt(a, b, budget);
  }
};

const ofFloats = (op: Exclude<ArithmeticOperator, '/'>, a: number, b: number): Float => {
  switch (op) {
    case '+':
      return new Float(a + b);
    case '-':
      return new Float(a - b);
    case '*':
      return new Float(a * b);
    case '//':
      return new Float(floorDivideFloat(a, b));
    case '%':
      return new Float(modFloat(a, b));
    case '**':
      return powerFloat(a, b);
  }
};

export const negate = (value: Number_): Value => {
  if (value instanceof Float) return new Float(-value.value);
  return typeof value === 'number' ? 0 - value : int(-value);
};

/** -1, 0, 1, or NaN where one is no number. */
export const compareNumbers = (left: Number_, right: Number_): number => {
  const a = left instanceof Float ? left.value : left;
  const b = right instanceof Float ? right.value : right;
  // JavaScript compares a double and a bigint by their exact values.
  return a < b ? -1 : a > b ? 1 : a <= b ? 0 : NaN;
};

/** An integer where Python asks for one (`__index__`); TypeError: anything else. */
export const indexOf = (
  value: Value,
  message = `'${typeName(value)}' object cannot be interpreted as an integer`,
): number => {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'bigint') return value < 0 ? -Infinity : Infinity;
  throw typeError(message);
};
