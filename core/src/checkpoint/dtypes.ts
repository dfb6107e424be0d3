import type { WeightData } from '../kernels/tensor.js';

/** What kvad can do with an element type of the safetensors format. */
interface DtypeFacts {
  /** Bits of one element; below 8 several elements share a byte. */
  readonly bits: number;
  /** `float`: a weight; `integer`: a table of ids; null: valid in a file, but kvad does not read it. */
  readonly reads: 'float' | 'integer' | null;
  readonly about: string;
}

const facts = (bits: number, reads: DtypeFacts['reads'], about: string): DtypeFacts => ({ bits, reads, about });

/** Every element type that the format knows (safetensors 0.8). */
const DTYPES: ReadonlyMap<string, DtypeFacts> = new Map([
  ['BOOL', facts(8, null, 'booleans')],
  ['F4', facts(4, null, '4-bit floats, e2m1')],
  ['F6_E2M3', facts(6, null, '6-bit floats')],
  ['F6_E3M2', facts(6, null, '6-bit floats')],
  ['U8', facts(8, null, 'bytes, as packed quantised weights have them')],
  ['I8', facts(8, null, '8-bit integers, as quantised weights have them')],
  ['F8_E5M2', facts(8, null, '8-bit floats')],
  ['F8_E4M3', facts(8, null, '8-bit floats')],
  ['F8_E8M0', facts(8, null, '8-bit scales')],
  ['F8_E4M3FNUZ', facts(8, null, '8-bit floats')],
  ['F8_E5M2FNUZ', facts(8, null, '8-bit floats')],
  ['I16', facts(16, null, '16-bit integers')],
  ['U16', facts(16, null, '16-bit integers')],
  ['F16', facts(16, 'float', 'half precision')],
  ['BF16', facts(16, 'float', 'bfloat16')],
  ['I32', facts(32, 'integer', '32-bit integers')],
  ['U32', facts(32, null, '32-bit words, as packed quantised weights have them')],
  ['F32', facts(32, 'float', 'single precision')],
  ['C64', facts(64, null, 'complex numbers')],
  ['F64', facts(64, null, 'double precision')],
  ['I64', facts(64, 'integer', '64-bit integers')],
  ['U64', facts(64, null, '64-bit integers')],
]);

export type ReadableDtype = Exclude<WeightData['dtype'], 'Q8' | 'Q4'>;

export const DTYPE_NAMES: readonly string[] = [...DTYPES.keys()];

/** null: no element type of the format. */
export const dtypeFacts = (dtype: string): DtypeFacts | null => DTYPES.get(dtype) ?? null;

/** Bytes of one element of a type that kvad reads. */
export const elementBytes = (dtype: ReadableDtype): number => (DTYPES.get(dtype)?.bits ?? 0) / 8;

/** Whether a tensor of this type can stand for a float weight, or for an integer table. */
export const canRead = (dtype: string, as: 'float' | 'integer'): dtype is ReadableDtype =>
  DTYPES.get(dtype)?.reads === as;
