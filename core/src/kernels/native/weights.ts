import { KvadError } from '../../errors/kvad-error.js';
import { decodeFloats, roundToBf16, roundToF16 } from '../half.js';
import type { Precision, WeightData } from '../tensor.js';
import { KINDS, type Addon, type NativeEngine } from './addon.js';
import { NativeMatrix } from './handles.js';

const STORED: Readonly<Record<string, 'f32' | 'f16' | 'bf16'>> = { F32: 'f32', F16: 'f16', BF16: 'bf16' };

/** Values in another float type, rounded to nearest even. */
const converted = (addon: Addon, data: WeightData, precision: 'f32' | 'f16' | 'bf16'): Uint8Array => {
  if (data.dtype !== 'F32' && data.dtype !== 'F16' && data.dtype !== 'BF16')
    throw new Error(`a matrix of ${data.dtype}`);
  const values = Float32Array.from(decodeFloats(data.bytes, data.dtype));
  addon.leave(data.bytes);
  if (precision === 'f32') return new Uint8Array(values.buffer);
  const round = precision === 'bf16' ? roundToBf16 : roundToF16;
  const out = new Uint16Array(values.length);
  const word = new Float32Array(1);
  const bits = new Uint32Array(word.buffer);
  for (let i = 0; i < values.length; i++) {
    word[0] = round(values[i]!);
    out[i] = precision === 'bf16' ? bits[0]! >>> 16 : f16Bits(bits[0]!);
  }
  return new Uint8Array(out.buffer);
};

/** Bits of an f16 out of those of an f32 that is exactly one. */
const f16Bits = (bits: number): number => {
  const sign = (bits >>> 16) & 0x8000;
  const exponent = (bits >>> 23) & 0xff;
  const mantissa = bits & 0x7fffff;
  if (exponent === 0xff) return sign | 0x7c00 | (mantissa !== 0 ? 0x200 : 0);
  if (exponent < 113) return exponent < 103 ? sign : sign | ((mantissa | 0x800000) >>> (126 - exponent));
  return sign | ((exponent - 112) << 10) | (mantissa >>> 13);
};

const PACKED = { q8: 'Q8', q4: 'Q4' } as const;
const HELD: Readonly<Record<string, Precision>> = { ...STORED, Q8: 'q8', Q4: 'q4' };

/**
 * A matrix `[out, in]`, or a stack `[count, out, in]`, as arithmetic holds it: as stored or packed without a copy,
 * converted, or quantised.
 */
export const nativeMatrix = (
  addon: Addon,
  engine: NativeEngine,
  data: WeightData,
  precision: Precision | null,
): NativeMatrix => {
  const { count, rows, cols } = sizesOf(data);
  const stored = HELD[data.dtype];
  if (stored === undefined) throw new Error(`a matrix of ${data.dtype}`);
  const held = precision ?? stored;
  const bytes =
    held === stored
      ? data.bytes
      : held === 'q8' || held === 'q4'
        ? packed(addon, engine, data, held).bytes
        : converted(addon, data, held);
  const id = addon.weight(engine, bytes, KINDS[held], count, rows, cols);
  return new NativeMatrix(id, count, rows, cols, held, bytes);
};

/** A float matrix or stack in the layout of `core/native/src/format.h`. */
export const packed = (addon: Addon, engine: NativeEngine, data: WeightData, precision: 'q8' | 'q4'): WeightData => {
  const { count, rows, cols } = sizesOf(data);
  const stored = STORED[data.dtype];
  if (stored === undefined) throw new Error(`${data.dtype} cannot be quantised`);
  const each = addon.quantBytes(KINDS[precision], rows, cols);
  const bytes = new Uint8Array(new ArrayBuffer(each * count));
  const source = data.bytes.byteLength / count;
  for (let i = 0; i < count; i++) {
    const from = data.bytes.subarray(i * source, (i + 1) * source);
    const to = bytes.subarray(i * each, (i + 1) * each);
    const bad = addon.quantise(engine, from, KINDS[stored], rows, cols, KINDS[precision], to);
    if (bad > 0) throw new KvadError('KVAD_E_QUANT_RANGE', { precision, blocks: bad });
    addon.leave(from);
  }
  return { dtype: PACKED[precision], shape: data.shape, bytes };
};

const sizesOf = ({ shape }: WeightData): { count: number; rows: number; cols: number } => {
  const [rows, cols] = shape.slice(-2);
  if (rows === undefined || cols === undefined || shape.length > 3) throw new Error(`a matrix [${shape.join(', ')}]`);
  return { count: shape.length === 3 ? shape[0]! : 1, rows, cols };
};
