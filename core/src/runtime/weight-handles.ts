import type { BoundWeights } from '../checkpoint/checkpoint.js';
import type { PartWeights, WeightSlot } from '../axes/parts.js';
import { decodeFloats } from '../kernels/half.js';
import type { Ops } from '../kernels/ops.js';
import type { Matrix, MatrixStack, Precision, Vector, WeightData } from '../kernels/tensor.js';
import type { PlannedSlot } from '../plan/planned-slot.js';
import type { QuantisedWeights } from './quantised-weights.js';

type Role = WeightSlot['role'];
type Handle = Matrix | MatrixStack | Vector | Int32Array;

/** Matrices whose rows are looked up or scored token by token: 8 bits where the others have 4. */
const BY_TOKEN: ReadonlySet<string> = new Set(['embedding.tokens.weight', 'head.weight']);

/**
 * Handles of a model's weights, made when first asked for. Two slots that name the same tensor in the same precision
 * share one handle. A slot may only be read as the role says that it was declared with.
 */
export class WeightHandles {
  readonly #slots: ReadonlyMap<string, PlannedSlot>;
  readonly #weights: BoundWeights;
  readonly #ops: Ops;
  readonly #quant: Precision | null;
  readonly #quantised: QuantisedWeights | null;
  readonly #made = new Map<string, Handle>();

  /** `quantised` null: matrices are quantised here, each time. */
  constructor(
    slots: readonly PlannedSlot[],
    weights: BoundWeights,
    ops: Ops,
    quant: Precision | null,
    quantised: QuantisedWeights | null = null,
  ) {
    this.#slots = new Map(slots.map((slot) => [slot.name, slot]));
    this.#weights = weights;
    this.#ops = ops;
    this.#quant = quant;
    this.#quantised = quantised;
  }

  /** The weights whose names start with `prefix`, by the rest of their names. */
  under(prefix: string): PartWeights {
    return {
      matrix: (name) => this.matrix(prefix + name),
      stack: (name) => this.stack(prefix + name),
      vector: (name) => this.vector(prefix + name),
      integers: (name) => this.#integers(prefix + name),
      values: (name) => floats(this.#read(prefix + name, ['exact'])),
      under: (more) => this.under(prefix + more),
    };
  }

  matrix(name: string): Matrix {
    const { role } = this.#slot(name, ['matrix', 'exact']);
    const precision = role === 'exact' ? 'f32' : this.#precisionOf(name);
    return this.#shared(name, `matrix ${precision ?? 'stored'}`, () =>
      this.#ops.matrix(this.#matrixData(name, precision), precision),
    );
  }

  stack(name: string): MatrixStack {
    this.#slot(name, ['stack']);
    const precision = this.#precisionOf(name);
    return this.#shared(name, `stack ${precision ?? 'stored'}`, () =>
      this.#ops.stack(this.#matrixData(name, precision), precision),
    );
  }

  vector(name: string): Vector {
    this.#slot(name, ['exact']);
    return this.#shared(name, 'vector', () => this.#ops.vector(this.#weights.read(name)));
  }

  #integers(name: string): Int32Array {
    const data = this.#read(name, ['integers']);
    return this.#shared(name, 'integers', () => integers(data, name));
  }

  #matrixData(name: string, precision: Precision | null): WeightData {
    const read = (): WeightData => this.#weights.read(name);
    if (this.#quantised === null || (precision !== 'q8' && precision !== 'q4')) return read();
    return this.#quantised.take(this.#weights.sourceOf(name), precision, read);
  }

  #precisionOf(name: string): Precision | null {
    return this.#quant === 'q4' && BY_TOKEN.has(name) ? 'q8' : this.#quant;
  }

  #read(name: string, roles: readonly Role[]): WeightData {
    this.#slot(name, roles);
    return this.#weights.read(name);
  }

  #slot(name: string, roles: readonly Role[]): PlannedSlot {
    const slot = this.#slots.get(name);
    if (!slot) throw new Error(`the weight ${name} was not declared as a slot`);
    if (!roles.includes(slot.role)) {
      throw new Error(`the weight ${name} was declared as ${slot.role}, and is read as ${roles.join(' or ')}`);
    }
    return slot;
  }

  /** Bytes of all handles made so far, as their precisions say. */
  get bytes(): number {
    return [...this.#made.values()].reduce((total, weight) => total + bytesOf(weight), 0);
  }

  #shared<T extends Handle>(name: string, form: string, make: () => T): T {
    const key = `${form} ${this.#weights.sourceOf(name)}`;
    if (!this.#made.has(key)) this.#made.set(key, make());
    return this.#made.get(key) as T;
  }
}

const bytesOf = (weight: Handle): number => {
  if ('count' in weight) return weight.count * weight.rows * rowBytes(weight);
  if ('precision' in weight) return weight.rows * rowBytes(weight);
  return 4 * weight.length;
};

/** q8 and q4: blocks of 32 columns with an f16 scale each, the last one padded. */
const rowBytes = ({ cols, precision }: Matrix | MatrixStack): number => {
  const blocks = Math.ceil(cols / 32);
  return { f32: 4 * cols, f16: 2 * cols, bf16: 2 * cols, q8: blocks * 34, q4: blocks * 18 }[precision];
};

const floats = (data: WeightData): Float32Array => {
  if (data.dtype !== 'F32' && data.dtype !== 'F16' && data.dtype !== 'BF16') {
    throw new Error(`${data.dtype} does not hold floats`);
  }
  return Float32Array.from(decodeFloats(data.bytes, data.dtype));
};

const integers = (data: WeightData, name: string): Int32Array => {
  const view = new DataView(data.bytes.buffer, data.bytes.byteOffset, data.bytes.byteLength);
  if (data.dtype === 'I32') {
    return Int32Array.from({ length: view.byteLength / 4 }, (_, index) => view.getInt32(4 * index, true));
  }
  if (data.dtype !== 'I64') throw new Error(`the integer table ${name} is stored as ${data.dtype}`);
  return Int32Array.from({ length: view.byteLength / 8 }, (_, index) => {
    const value = view.getBigInt64(8 * index, true);
    if (BigInt.asIntN(32, value) !== value) throw new Error(`${value} in ${name} does not fit 32 bits`);
    return Number(value);
  });
};
