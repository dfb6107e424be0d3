import type { ExpertOps } from '../expert-ops.js';
import { floats, integers, requireApart, shapeError, type HostTensor } from './host-tensor.js';
import { dot } from './dot.js';
import { hostStack, vectorValues, type HostStack } from './weights.js';

/** out row = W[index] x row, W `[out, in]` of a stack. */
const product = (stack: HostStack, index: number, x: HostTensor, xAt: number, out: HostTensor, outAt: number): void => {
  const { rows, cols, values } = stack;
  for (let o = 0; o < rows; o++) out.f32[outAt + o] = dot(x.f32, xAt, values, (index * rows + o) * cols, cols);
};

/** Experts and block-diagonal projections. */
export const expertOps: Pick<ExpertOps, 'expertLinear' | 'combine' | 'headLinear'> = {
  expertLinear(xHandle, weight, outHandle, options) {
    const x = floats('expertLinear', 'x', xHandle);
    const out = floats('expertLinear', 'out', outHandle);
    const ids = integers('expertLinear', 'ids', options.ids);
    const stack = hostStack(weight);
    const pairs = ids.rows * ids.cols;
    if (
      x.cols !== stack.cols ||
      out.cols !== stack.rows ||
      out.rows !== pairs ||
      (x.rows !== ids.rows && x.rows !== pairs)
    ) {
      throw shapeError('expertLinear', 'x [rows or rows * k, in], ids [rows, k], out [rows * k, out]', { x, ids, out });
    }
    requireApart('expertLinear', x, out);
    const bias = vectorValues('expertLinear', 'bias', options.bias, stack.count * stack.rows);
    for (let pair = 0; pair < pairs; pair++) {
      const r = Math.floor(pair / ids.cols);
      const id = ids.i32[ids.offset + r * ids.stride + (pair % ids.cols)]!;
      if (id < -1 || id >= stack.count) throw new Error(`expertLinear: matrix ${id} of ${stack.count}`);
      const to = out.offset + pair * out.stride;
      if (id === -1) {
        out.f32.fill(0, to, to + out.cols);
        continue;
      }
      product(stack, id, x, x.offset + (x.rows === pairs ? pair : r) * x.stride, out, to);
      if (bias) for (let o = 0; o < out.cols; o++) out.f32[to + o]! += bias[id * stack.rows + o]!;
    }
  },

  combine(xHandle, weightsHandle, outHandle, { keep }) {
    const x = floats('combine', 'x', xHandle);
    const weights = floats('combine', 'weights', weightsHandle);
    const out = floats('combine', 'out', outHandle);
    const k = weights.cols;
    if (weights.rows !== out.rows || x.rows !== out.rows * k || x.cols !== out.cols) {
      throw shapeError('combine', 'x [rows * k, cols], weights [rows, k], out [rows, cols]', { x, weights, out });
    }
    requireApart('combine', x, out);
    for (let r = 0; r < out.rows; r++) {
      for (let c = 0; c < out.cols; c++) {
        let sum = keep === 0 ? 0 : keep * out.f32[out.offset + r * out.stride + c]!;
        for (let j = 0; j < k; j++) {
          const factor = weights.f32[weights.offset + r * weights.stride + j]!;
          if (factor !== 0) sum += factor * x.f32[x.offset + (r * k + j) * x.stride + c]!;
        }
        out.f32[out.offset + r * out.stride + c] = sum;
      }
    }
  },

  headLinear(xHandle, weight, outHandle) {
    const x = floats('headLinear', 'x', xHandle);
    const out = floats('headLinear', 'out', outHandle);
    const stack = hostStack(weight);
    if (x.rows !== out.rows || x.cols !== stack.count * stack.cols || out.cols !== stack.count * stack.rows) {
      throw shapeError('headLinear', 'x [rows, count * in], out [rows, count * out]', { x, out });
    }
    requireApart('headLinear', x, out);
    for (let r = 0; r < x.rows; r++) {
      for (let h = 0; h < stack.count; h++) {
        const from = x.offset + r * x.stride + h * stack.cols;
        product(stack, h, x, from, out, out.offset + r * out.stride + h * stack.rows);
      }
    }
  },
};
