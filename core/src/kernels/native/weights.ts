import { KvadError } from '../../errors/kvad-error.js';
import type { Precision, WeightData } from '../tensor.js';
import { KINDS, type Addon, type NativeEngine } from './addon.js';
import { NativeMatrix } from './handles.js';

const STORED: Readonly<Record<string, 'f32' | 'f16' | 'bf16'>> = { F32: 'f32', F16: 'f16', BF16: 'bf16' };
const ELEMENT = { f32: 4, f16: 2, bf16: 2 } as const;
/** Rows that are quantised together, as `core/native/src/format.h` has it. */
const GROUP_ROWS = 16;

/**
 * So many bytes are made from at a time, or one group of rows where that has more: what is made grows while the file's
 * pages that it was made from go.
 */
const PIECE_BYTES = 2 ** 23;

/** Values in another float type, rounded to nearest even. */
const converted = (
  addon: Addon,
  engine: NativeEngine,
  { dtype, bytes }: WeightData,
  precision: 'f32' | 'f16' | 'bf16',
): Uint8Array => {
  const stored = storedAs(dtype, 'converted');
  const out = new Uint8Array(new ArrayBuffer((bytes.byteLength / ELEMENT[stored]) * ELEMENT[precision]));
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
    const from = bytes.subarray(at, at + PIECE_BYTES);
    const to = (at / ELEMENT[stored]) * ELEMENT[precision];
    const length = (from.byteLength / ELEMENT[stored]) * ELEMENT[precision];
    addon.convert(engine, from, KINDS[stored], KINDS[precision], out.subarray(to, to + length));
    addon.leave(from);
  }
  return out;
};

const storedAs = (dtype: string, what: string): 'f32' | 'f16' | 'bf16' => {
  const stored = STORED[dtype];
  if (stored === undefined) throw new Error(`${dtype} cannot be ${what}`);
  return stored;
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
        : converted(addon, engine, data, held);
  const id = addon.weight(engine, bytes, KINDS[held], count, rows, cols);
  return new NativeMatrix(id, count, rows, cols, held, bytes);
};

/** A float matrix or stack in the layout of `core/native/src/format.h`. */
export const packed = (addon: Addon, engine: NativeEngine, data: WeightData, precision: 'q8' | 'q4'): WeightData => {
  const { count, rows, cols } = sizesOf(data);
  const stored = storedAs(data.dtype, 'quantised');
  const each = addon.quantBytes(KINDS[precision], rows, cols);
  const bytes = new Uint8Array(new ArrayBuffer(each * count));
  const rowBytes = cols * ELEMENT[stored];
  const step = GROUP_ROWS * Math.max(1, Math.floor(PIECE_BYTES / (GROUP_ROWS * rowBytes)));
  let bad = 0;
  for (let i = 0; i < count; i++) {
    for (let row = 0, to = i * each; row < rows; row += step) {
      const some = Math.min(step, rows - row);
      const from = data.bytes.subarray((i * rows + row) * rowBytes, (i * rows + row + some) * rowBytes);
      const length = addon.quantBytes(KINDS[precision], some, cols);
      const made = bytes.subarray(to, to + length);
      bad += addon.quantise(engine, from, KINDS[stored], some, cols, KINDS[precision], made);
      addon.leave(from);
      to += length;
    }
    if (bad > 0) throw new KvadError('KVAD_E_QUANT_RANGE', { precision, blocks: bad });
  }
  return { dtype: PACKED[precision], shape: data.shape, bytes };
};

const sizesOf = ({ shape }: WeightData): { count: number; rows: number; cols: number } => {
  const [rows, cols] = shape.slice(-2);
  if (rows === undefined || cols === undefined || shape.length > 3) throw new Error(`a matrix [${shape.join(', ')}]`);
  return { count: shape.length === 3 ? shape[0]! : 1, rows, cols };
};
