import type { Ops } from '../ops.js';
import { floats, integers, requireApart, shapeError, type HostTensor } from './host-tensor.js';
import { hostMatrix, vectorValues, type HostMatrix } from './weights.js';

/**
 * Four outputs of one row at a time, and of two rows where there are two: each weight that was fetched is used for
 * both. Every output is one sum in column order, so that a row's result does not depend on the rows beside it.
 */
const ROWS_AT_ONCE = 2;
const OUTPUTS_AT_ONCE = 4;

const oneRow = (x: Float32Array, xi: number, w: Float32Array, wi: number, n: number, sums: Float64Array): void => {
  const w1 = wi + n;
  const w2 = w1 + n;
  const w3 = w2 + n;
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  for (let i = 0; i < n; i++) {
    const value = x[xi + i]!;
    s0 += value * w[wi + i]!;
    s1 += value * w[w1 + i]!;
    s2 += value * w[w2 + i]!;
    s3 += value * w[w3 + i]!;
  }
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
};

const twoRows = (
  x: Float32Array,
  xi: number,
  xj: number,
  w: Float32Array,
  wi: number,
  n: number,
  sums: Float64Array,
): void => {
  const w1 = wi + n;
  const w2 = w1 + n;
  const w3 = w2 + n;
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let t0 = 0;
  let t1 = 0;
  let t2 = 0;
  let t3 = 0;
  for (let i = 0; i < n; i++) {
    const first = x[xi + i]!;
    const second = x[xj + i]!;
    const v0 = w[wi + i]!;
    const v1 = w[w1 + i]!;
    const v2 = w[w2 + i]!;
    const v3 = w[w3 + i]!;
    s0 += first * v0;
    s1 += first * v1;
    s2 += first * v2;
    s3 += first * v3;
    t0 += second * v0;
    t1 += second * v1;
    t2 += second * v2;
    t3 += second * v3;
  }
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
  sums[4] = t0;
  sums[5] = t1;
  sums[6] = t2;
  sums[7] = t3;
};

const oneOutput = (x: Float32Array, xi: number, w: Float32Array, wi: number, n: number): number => {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += x[xi + i]! * w[wi + i]!;
  return sum;
};

const multiply = (x: HostTensor, weight: HostMatrix, out: HostTensor, bias: Float32Array | null): void => {
  const n = x.cols;
  const w = weight.values;
  const sums = new Float64Array(ROWS_AT_ONCE * OUTPUTS_AT_ONCE);
  const store = (row: number, o: number, from: number): void => {
    const start = out.offset + row * out.stride + o;
    for (let k = 0; k < OUTPUTS_AT_ONCE; k++) {
      out.f32[start + k] = sums[from + k]! + (bias === null ? 0 : bias[o + k]!);
    }
  };

  let o = 0;
  for (; o + OUTPUTS_AT_ONCE <= weight.rows; o += OUTPUTS_AT_ONCE) {
    let r = 0;
    for (; r + ROWS_AT_ONCE <= x.rows; r += ROWS_AT_ONCE) {
      const xi = x.offset + r * x.stride;
      twoRows(x.f32, xi, xi + x.stride, w, o * n, n, sums);
      store(r, o, 0);
      store(r + 1, o, OUTPUTS_AT_ONCE);
    }
    if (r < x.rows) {
      oneRow(x.f32, x.offset + r * x.stride, w, o * n, n, sums);
      store(r, o, 0);
    }
  }
  for (; o < weight.rows; o++) {
    for (let r = 0; r < x.rows; r++) {
      const sum = oneOutput(x.f32, x.offset + r * x.stride, w, o * n, n);
      out.f32[out.offset + r * out.stride + o] = sum + (bias === null ? 0 : bias[o]!);
    }
  }
};

export const linearOps: Pick<Ops, 'linear' | 'embed'> = {
  linear(xHandle, weightHandle, outHandle, { bias }) {
    const x = floats('linear', 'x', xHandle);
    const out = floats('linear', 'out', outHandle);
    const weight = hostMatrix(weightHandle);
    if (x.cols !== weight.cols || out.cols !== weight.rows || x.rows !== out.rows) {
      throw shapeError('linear', 'x [rows, in], weight [out, in], out [rows, out]', { x, weight, out });
    }
    requireApart('linear', x, out);
    multiply(x, weight, out, vectorValues('linear', 'bias', bias, weight.rows));
  },

  embed(tableHandle, idsHandle, outHandle, { scale, offset, add }) {
    const ids = integers('embed', 'ids', idsHandle);
    const out = floats('embed', 'out', outHandle);
    const table = hostMatrix(tableHandle);
    if (ids.cols !== 1 || ids.rows !== out.rows || out.cols !== table.cols) {
      throw shapeError('embed', 'table [count, cols], ids [rows, 1], out [rows, cols]', { table, ids, out });
    }
    for (let r = 0; r < out.rows; r++) {
      const id = ids.i32[ids.offset + r * ids.stride]! + offset;
      if (id < 0 || id >= table.rows) throw new Error(`embed: row ${id} of a table of ${table.rows} rows`);
      const from = id * table.cols;
      const to = out.offset + r * out.stride;
      for (let c = 0; c < out.cols; c++) {
        const value = scale * table.values[from + c]!;
        out.f32[to + c] = add ? out.f32[to + c]! + value : value;
      }
    }
  },
};
