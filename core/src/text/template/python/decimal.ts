/** Most digits that are asked for; Python's own bound is far above what prints. */
const MOST_DIGITS = 1_100;

/** The shortest digits that read back as the same double. `value` is positive. */
const shortest = (value: number): Digits => {
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  return { digits: mantissa.replace('.', ''), exponent: Number(exponent) + 1 };
};

/** A finite double in decimal digits: 0.d1d2d3… times ten to the `exponent`. */
export interface Digits {
  readonly digits: string;
  readonly exponent: number;
}

/** A double as numerator and denominator. */
export const ratioOf = (value: number): [bigint, bigint] => {
  let shift = 0;
  let mantissa = Math.abs(value);
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    shift++;
  }
  const numerator = BigInt(mantissa);
  return [value < 0 ? -numerator : numerator, 1n << BigInt(shift)];
};

/** numerator / denominator to the nearest integer, halves to the even one. Both are positive. */
export const divideHalfEven = (numerator: bigint, denominator: bigint): bigint => {
  const quotient = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  const up = twice > denominator || (twice === denominator && quotient % 2n === 1n);
  return up ? quotient + 1n : quotient;
};

/** `%.{places}f` of a finite value, without its sign. */
export const fixed = (value: number, places: number): string => {
  const kept = Math.min(places, MOST_DIGITS);
  const [numerator, denominator] = ratioOf(Math.abs(value));
  const scaled = divideHalfEven(numerator * 10n ** BigInt(kept), denominator).toString();
  const digits = scaled.padStart(kept + 1, '0');
  const whole = digits.slice(0, digits.length - kept);
  return places === 0 ? whole : `${whole}.${digits.slice(digits.length - kept).padEnd(places, '0')}`;
};

/** The first `count` digits of a finite value, correctly rounded. */
const rounded = (value: number, count: number): Digits => {
  const size = Math.abs(value);
  if (size === 0) return { digits: '0'.repeat(count), exponent: 1 };
  const [numerator, denominator] = ratioOf(size);
  let { exponent } = shortest(size);
  const at = (places: number): bigint =>
    places >= 0
      ? divideHalfEven(numerator * 10n ** BigInt(places), denominator)
      : divideHalfEven(numerator, denominator * 10n ** BigInt(-places));
  let digits = at(count - exponent).toString();
  if (digits.length > count) {
    exponent++;
    digits = digits.slice(0, count);
  }
  return { digits: digits.padStart(count, '0'), exponent };
};

const exponentText = (exponent: number): string => {
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `e${exponent < 0 ? '-' : '+'}${size}`;
};

const scientific = ({ digits, exponent }: Digits, keepPoint = false): string => {
  const rest = digits.slice(1);
  const point = rest !== '' || keepPoint ? '.' : '';
  return `${digits[0]}${point}${rest}${exponentText(exponent - 1)}`;
};

const positional = ({ digits, exponent }: Digits): string => {
  if (exponent <= 0) return `0.${'0'.repeat(-exponent)}${digits}`;
  if (digits.length <= exponent) return digits.padEnd(exponent, '0');
  return `${digits.slice(0, exponent)}.${digits.slice(exponent)}`;
};

/** `%.{places}e` of a finite value, without its sign. */
export const exponential = (value: number, places: number, keepPoint = false): string =>
  scientific(rounded(value, Math.min(places, MOST_DIGITS) + 1), keepPoint);

/** `%.{precision}g` of a finite value, without its sign; `all`: zeros at the end stay. */
export const general = (value: number, precision: number, all = false): string => {
  const count = Math.max(1, Math.min(precision, MOST_DIGITS));
  const { digits, exponent } = rounded(value, count);
  const kept = all ? digits : digits.replace(/0+$/, '') || '0';
  if (exponent - 1 < -4 || exponent - 1 >= count) return scientific({ digits: kept, exponent }, all);
  const text = positional({ digits: kept, exponent });
  return all && !text.includes('.') ? `${text}.` : text;
};

/** `repr(float)`. */
export const floatText = (value: number): string => {
  if (Number.isNaN(value)) return 'nan';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  if (!Number.isFinite(value)) return `${sign}inf`;
  if (value === 0) return `${sign}0.0`;
  const shape = shortest(Math.abs(value));
  if (shape.exponent - 1 < -4 || shape.exponent - 1 >= 16) return sign + scientific(shape);
  const text = positional(shape);
  return sign + (text.includes('.') ? text : `${text}.0`);
};
