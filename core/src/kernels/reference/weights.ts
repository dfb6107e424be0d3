import { KvadError } from '../../errors/kvad-error.js';
import { decodeFloats, roundToBf16, roundToF16 } from '../half.js';
import type { Ops } from '../ops.js';
import type { Matrix, MatrixStack, Precision, Vector, WeightData } from '../tensor.js';

/** A weight matrix, widened to float32: row o starts at `o * cols`. */
export class HostMatrix {
  constructor(
    readonly rows: number,
    readonly cols: number,
    readonly precision: Precision,
    readonly values: Float32Array,
  ) {}
}

/** `count` matrices of one shape, one after another. */
export class HostStack {
  constructor(
    readonly count: number,
    readonly rows: number,
    readonly cols: number,
    readonly precision: Precision,
    readonly values: Float32Array,
  ) {}
}

export class HostVector {
  readonly length: number;

  constructor(readonly values: Float32Array) {
    this.length = values.length;
  }
}

export const hostMatrix = (handle: Matrix): HostMatrix => {
  const matrix: unknown = handle;
  if (!(matrix instanceof HostMatrix)) throw new Error('a matrix of other ops was given to the reference ops');
  return matrix;
};

export const hostStack = (handle: MatrixStack): HostStack => {
  const stack: unknown = handle;
  if (!(stack instanceof HostStack)) throw new Error('a stack of other ops was given to the reference ops');
  return stack;
};

/** The values of a vector that must have that length; null stays null. */
export const vectorValues = (op: string, name: string, handle: Vector | null, length: number): Float32Array | null => {
  if (handle === null) return null;
  const { values } = hostVector(handle);
  if (values.length !== length) throw new Error(`${op}: ${name} has ${values.length} values, ${length} are needed`);
  return values;
};

export const hostVector = (handle: Vector): HostVector => {
  const vector: unknown = handle;
  if (!(vector instanceof HostVector)) throw new Error('a vector of other ops was given to the reference ops');
  return vector;
};

const STORED: Readonly<Partial<Record<WeightData['dtype'], Precision>>> = { F32: 'f32', F16: 'f16', BF16: 'bf16' };

const decode = (op: string, { dtype, shape, bytes }: WeightData): Float32Array => {
  if (dtype !== 'F32' && dtype !== 'F16' && dtype !== 'BF16') throw new Error(`${op}: ${dtype} is no float`);
  const values = decodeFloats(bytes, dtype);
  const count = shape.reduce((product, size) => product * size, 1);
  if (values.length !== count) throw new Error(`${op}: ${values.length} values for shape [${shape.join(', ')}]`);
  return values;
};

const finiteF16 = (value: number): number => {
  const held = roundToF16(value);
  if (Number.isFinite(value) && !Number.isFinite(held)) {
    throw new KvadError('KVAD_E_F16_RANGE', { value });
  }
  return held;
};

/** Values as `precision` holds them. f32 holds every stored float exactly. */
const rounded = (values: Float32Array, stored: Precision, precision: Precision): Float32Array => {
  if (precision === stored || precision === 'f32') return values;
  if (precision === 'bf16') return values.map(roundToBf16);
  if (precision === 'f16') return values.map(finiteF16);
  throw new KvadError('KVAD_E_QUANT_UNSUPPORTED', { precision, kernels: 'reference' });
};

/** The values of a weight with that many axes, and how they are held. */
const held = (op: string, data: WeightData, axes: number, precision: Precision | null) => {
  if (data.shape.length !== axes) throw new Error(`${op}: shape [${data.shape.join(', ')}] has not ${axes} axes`);
  const stored = STORED[data.dtype]!;
  const values = decode(op, data);
  return { values: rounded(values, stored, precision ?? stored), precision: precision ?? stored };
};

/** Weights on the host: float32 values, rounded first where a smaller precision is asked for. */
export const weightOps: Pick<Ops, 'matrix' | 'stack' | 'pack' | 'quantLayout' | 'vector' | 'constant'> = {
  quantLayout: null,
  pack: (_, precision) => {
    throw new KvadError('KVAD_E_QUANT_UNSUPPORTED', { precision, kernels: 'reference' });
  },
  matrix(data, wanted) {
    const { values, precision } = held('matrix', data, 2, wanted);
    return new HostMatrix(data.shape[0]!, data.shape[1]!, precision, values) as unknown as Matrix;
  },
  stack(data, wanted) {
    const { values, precision } = held('stack', data, 3, wanted);
    const [count, rows, cols] = data.shape as readonly [number, number, number];
    return new HostStack(count, rows, cols, precision, values) as unknown as MatrixStack;
  },
  vector: (data) => new HostVector(decode('vector', data)) as unknown as Vector,
  constant: (values) => new HostVector(values.slice()) as unknown as Vector,
};
