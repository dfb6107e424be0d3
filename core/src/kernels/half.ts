/**
 * The two 16-bit float formats, exactly: every value widens without loss, and narrowing rounds to the nearest, ties to
 * even, with subnormals, signed zeros, infinities and NaN.
 *
 *   f16:  1 sign, 5 exponent (bias 15), 10 fraction bits; largest 65504
 *   bf16: the upper half of a float32
 */

const asFloat = new Float32Array(1);
const asBits = new Uint32Array(asFloat.buffer);

const bitsOf = (value: number): number => {
  asFloat[0] = value;
  return asBits[0]!;
};

/** The value of 16 bits read as f16. */
export const f16ToF32 = (half: number): number => {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
};

/** Bits of the f16 nearest to a float32. 65520 and above become infinity. */
export const f32ToF16 = (value: number): number => {
  const bits = bitsOf(value);
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude >= 0x38800000) {
    const rounded = magnitude + 0xfff + ((magnitude >>> 13) & 1);
    return sign | ((rounded - 0x38000000) >>> 13);
  }
  // Below 2^-14 the steps are 2^-24. Adding 2^52 leaves no fraction bits: the processor rounds to even.
  return sign | (Math.abs(asFloat[0]!) * 2 ** 24 + 2 ** 52 - 2 ** 52);
};

/** The value of 16 bits read as bf16. */
export const bf16ToF32 = (half: number): number => {
  asBits[0] = half << 16;
  return asFloat[0]!;
};

/** Bits of the bf16 nearest to a float32. */
export const f32ToBf16 = (value: number): number => {
  const bits = bitsOf(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >>> 16) | 0x40;
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
};

/** A float32 as f16 holds it. */
export const roundToF16 = (value: number): number => f16ToF32(f32ToF16(value));

/** A float32 as bf16 holds it. */
export const roundToBf16 = (value: number): number => bf16ToF32(f32ToBf16(value));

let f16Values: Float32Array | null = null;

/** All 65,536 f16 values by their bits; made once. */
const f16Table = (): Float32Array => (f16Values ??= Float32Array.from({ length: 65536 }, (_, half) => f16ToF32(half)));

/** Little-endian bytes as a typed array of that element: a view where they are aligned, else of a copy. */
const elements = <T>(
  bytes: Uint8Array,
  array: { new (buffer: ArrayBufferLike, offset: number, length: number): T; BYTES_PER_ELEMENT: number },
): T => {
  const size = array.BYTES_PER_ELEMENT;
  if (bytes.byteLength % size !== 0)
    throw new Error(`${bytes.byteLength} bytes are no whole number of elements of ${size}`);
  const aligned = bytes.byteOffset % size === 0 ? bytes : bytes.slice();
  return new array(aligned.buffer, aligned.byteOffset, aligned.byteLength / size);
};

/** Little-endian stored floats as float32. F32 stays a view of `bytes` where they are aligned to 4. */
export const decodeFloats = (bytes: Uint8Array, dtype: 'F32' | 'F16' | 'BF16'): Float32Array => {
  if (dtype === 'F32') return elements(bytes, Float32Array);
  const halves = elements(bytes, Uint16Array);
  const values = new Float32Array(halves.length);
  if (dtype === 'F16') {
    const table = f16Table();
    for (let i = 0; i < halves.length; i++) values[i] = table[halves[i]!]!;
  } else {
    const bits = new Uint32Array(values.buffer);
    for (let i = 0; i < halves.length; i++) bits[i] = halves[i]! << 16;
  }
  return values;
};
