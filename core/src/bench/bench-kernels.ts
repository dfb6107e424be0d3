import { chooseOps } from '../kernels/choose-ops.js';
import type { Ops } from '../kernels/ops.js';
import { createReferenceOps } from '../kernels/reference/index.js';
import type { Matrix, State, Tensor, WeightData } from '../kernels/tensor.js';
import { spread, type Spread } from './statistics.js';
import type { BenchPrecision } from './variants.js';

/** What one kernel did at one shape. */
export interface KernelResult {
  readonly op: 'matrix-vector' | 'batch' | 'attention';
  readonly precision: BenchPrecision | 'f16';
  /** Rows of activations. */
  readonly rows: number;
  /** Cached tokens; null for products. */
  readonly context: number | null;
  readonly microseconds: Spread;
  /** Bytes of weights, or of keys and values, by the median time. */
  readonly bytesPerSecond: number;
  readonly multiplyAddsPerSecond: number;
  /** Largest difference from the reference by its largest value, and what is allowed. */
  readonly error: number;
  readonly tolerance: number;
}

export interface KernelOptions {
  readonly threads: number | null;
  readonly precisions: readonly BenchPrecision[];
  readonly rounds: number;
  readonly signal: AbortSignal;
}

const [OUT, IN] = [2048, 2048];
/** More than a cache holds, so that a product reads its matrix from memory, as decoding does. */
const MATRIX_BYTES = 128 * 2 ** 20;
const BATCHES = [2, 8, 32, 128];
const CONTEXTS = [512, 2048, 8192];
const HEADS = { heads: 16, kvHeads: 4, keyDim: 64, valueDim: 64 } as const;
/** 4 and 8 bits against exact products of the same values: what rounding may change. */
const TOLERANCE: Readonly<Record<BenchPrecision | 'f16', number>> = {
  f32: 2e-5,
  bf16: 1e-3,
  f16: 1e-3,
  q8: 2e-3,
  q4: 5e-2,
};

/** Times products and attention of the kernels that run here, each held against the reference. */
export const benchKernels = (options: KernelOptions): { kernels: string; results: KernelResult[] } => {
  const ops = chooseOps({ kvCacheDtype: 'f16', threads: options.threads });
  const reference = createReferenceOps({ kvCacheDtype: 'f32' });
  try {
    const products = options.precisions.flatMap((precision) => benchProducts(ops, reference, precision, options));
    return { kernels: ops.name, results: [...products, ...benchAttention(ops, reference, options)] };
  } finally {
    ops.dispose();
    reference.dispose();
  }
};

const benchProducts = (ops: Ops, reference: Ops, precision: BenchPrecision, options: KernelOptions): KernelResult[] => {
  const data = weight(OUT, IN);
  const held = precision === 'q8' || precision === 'q4' ? ops.pack(data, precision) : data;
  const bytes = OUT * IN * { f32: 4, bf16: 2, q8: 34 / 32, q4: 18 / 32 }[precision];
  const copies = Math.ceil(MATRIX_BYTES / bytes);
  const matrices = Array.from({ length: copies }, () => ops.matrix({ ...held, bytes: held.bytes.slice() }, precision));
  const exact = reference.matrix(data, null);
  return [1, ...BATCHES].map((rows) => {
    options.signal.throwIfAborted();
    const x = random(rows * IN);
    const times = repeat(options.rounds, Math.max(1, Math.ceil(copies / rows)), (turn) => {
      product(ops, matrices[turn % copies]!, x, rows);
    });
    const error = distance(product(ops, matrices[0]!, x, rows), product(reference, exact, x, rows));
    return {
      op: rows === 1 ? ('matrix-vector' as const) : ('batch' as const),
      precision,
      rows,
      context: null,
      ...rates(times, bytes, rows * OUT * IN),
      error,
      tolerance: TOLERANCE[precision],
    };
  });
};

const product = (ops: Ops, matrix: Matrix, x: Float32Array, rows: number): Float32Array =>
  scoped(ops, () => {
    const out = ops.tensor(rows, OUT);
    ops.linear(ops.upload(x, rows, IN), matrix, out, { bias: null });
    return out;
  });

const benchAttention = (ops: Ops, reference: Ops, options: KernelOptions): KernelResult[] =>
  CONTEXTS.map((context) => {
    options.signal.throwIfAborted();
    const width = HEADS.kvHeads * HEADS.keyDim;
    const keys = random(context * width);
    const values = random(context * width);
    const q = random(HEADS.heads * HEADS.keyDim);
    const prepared = [ops, reference].map((on) => ({
      on,
      keys: cached(on, keys, width),
      values: cached(on, values, width),
    }));
    const attend = ({ on, ...cache }: (typeof prepared)[number]): Float32Array =>
      scoped(on, () => {
        const out = on.tensor(1, HEADS.heads * HEADS.valueDim);
        const segments = [{ start: 0, length: 1, position: context - 1, ...cache }];
        const rest = { window: null, chunk: null, softcap: null, sinks: null, slopes: null };
        on.attend(on.upload(q, 1, q.length), out, { segments, ...HEADS, scale: 0.125, ...rest });
        return out;
      });
    const times = repeat(options.rounds, 8, () => attend(prepared[0]!));
    const error = distance(attend(prepared[0]!), attend(prepared[1]!));
    for (const { on, keys: k, values: v } of prepared) {
      on.freeState(k);
      on.freeState(v);
    }
    const rate = rates(times, 2 * context * width * 2, 2 * context * HEADS.heads * HEADS.keyDim);
    return { op: 'attention', precision: 'f16', rows: 1, context, ...rate, error, tolerance: TOLERANCE.f16 };
  });

const cached = (ops: Ops, values: Float32Array, width: number): State => {
  const state = ops.state({ name: 'bench', kind: 'kv', shape: [width], dtype: 'cache', init: 0, rollback: 'any' });
  const mark = ops.mark();
  ops.append(state, ops.upload(values, values.length / width, width), 0, values.length / width, 0);
  ops.release(mark);
  return state;
};

const scoped = (ops: Ops, act: () => Tensor): Float32Array => {
  const mark = ops.mark();
  const out = Float32Array.from(ops.host(act()));
  ops.release(mark);
  return out;
};

/** Seconds of one call, a mean of `calls`, for each round; one more comes first and is dropped. */
const repeat = (rounds: number, calls: number, act: (turn: number) => void): number[] => {
  const times: number[] = [];
  let turn = 0;
  for (let round = 0; round <= rounds; round++) {
    const start = performance.now();
    for (let call = 0; call < calls; call++) act(turn++);
    times.push((performance.now() - start) / 1000 / calls);
  }
  return times.slice(1);
};

const rates = (times: readonly number[], bytes: number, multiplyAdds: number) => {
  const { median, min, max } = spread(times);
  return {
    microseconds: { median: median * 1e6, min: min * 1e6, max: max * 1e6 },
    bytesPerSecond: bytes / median,
    multiplyAddsPerSecond: multiplyAdds / median,
  };
};

/** Numbers in (-1, 1), the same each time. */
const random = (count: number): Float32Array => {
  let state = 7;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) / 2 ** 23 - 1;
  });
};

const weight = (rows: number, columns: number): WeightData => ({
  dtype: 'F32',
  shape: [rows, columns],
  bytes: new Uint8Array(random(rows * columns).buffer),
});

/** NaN where either has one. */
const distance = (a: Float32Array, b: Float32Array): number => {
  let worst = 0;
  let largest = 0;
  for (let i = 0; i < b.length; i++) {
    const difference = Math.abs(a[i]! - b[i]!);
    if (!(difference <= worst)) worst = difference;
    largest = Math.max(largest, Math.abs(b[i]!));
  }
  return worst / largest;
};
