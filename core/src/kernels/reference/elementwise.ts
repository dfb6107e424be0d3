import type { Ops } from '../ops.js';
import type { Tensor } from '../tensor.js';
import {
  floats,
  requireApart,
  requireInPlaceOrApart,
  requireSameShape,
  shapeError,
  type HostTensor,
} from './host-tensor.js';
import { vectorValues } from './weights.js';

/** x and out of one shape, `out` in place or apart. */
const pair = (op: string, xHandle: Tensor, outHandle: Tensor): { x: HostTensor; out: HostTensor } => {
  const x = floats(op, 'x', xHandle);
  const out = floats(op, 'out', outHandle);
  requireSameShape(op, x, out);
  requireInPlaceOrApart(op, x, out);
  return { x, out };
};

/** out[r, c] = f(x[r, c]) */
const map = (op: string, xHandle: Tensor, outHandle: Tensor, f: (value: number) => number): void => {
  const { x, out } = pair(op, xHandle, outHandle);
  for (let r = 0; r < x.rows; r++) {
    const from = x.offset + r * x.stride;
    const to = out.offset + r * out.stride;
    for (let c = 0; c < x.cols; c++) out.f32[to + c] = f(x.f32[from + c]!);
  }
};

type ElementwiseOps = Pick<Ops, 'add' | 'multiply' | 'scaleGroups' | 'affine' | 'scale' | 'clamp' | 'softcap'>;

export const elementwiseOps: ElementwiseOps = {
  add(xHandle, outHandle, { keep, scale }) {
    const { x, out } = pair('add', xHandle, outHandle);
    for (let r = 0; r < x.rows; r++) {
      const from = x.offset + r * x.stride;
      const to = out.offset + r * out.stride;
      // With keep 0 what `out` held does not count, not even a NaN.
      for (let c = 0; c < x.cols; c++) {
        const added = scale * x.f32[from + c]!;
        out.f32[to + c] = keep === 0 ? added : keep * out.f32[to + c]! + added;
      }
    }
  },

  multiply(xHandle, yHandle, outHandle) {
    const { x, out } = pair('multiply', xHandle, outHandle);
    const { x: y } = pair('multiply', yHandle, outHandle);
    for (let r = 0; r < x.rows; r++) {
      const left = x.offset + r * x.stride;
      const right = y.offset + r * y.stride;
      const to = out.offset + r * out.stride;
      for (let c = 0; c < x.cols; c++) out.f32[to + c] = x.f32[left + c]! * y.f32[right + c]!;
    }
  },

  scaleGroups(xHandle, factorsHandle, outHandle, { size }) {
    const { x, out } = pair('scaleGroups', xHandle, outHandle);
    const factors = floats('scaleGroups', 'factors', factorsHandle);
    if (size < 1 || factors.rows !== x.rows || factors.cols * size !== x.cols) {
      throw shapeError('scaleGroups', 'x [rows, groups * size], factors [rows, groups]', { x, factors, size });
    }
    requireApart('scaleGroups', factors, out);
    for (let r = 0; r < x.rows; r++) {
      for (let group = 0; group < factors.cols; group++) {
        const factor = factors.f32[factors.offset + r * factors.stride + group]!;
        const from = x.offset + r * x.stride + group * size;
        const to = out.offset + r * out.stride + group * size;
        for (let j = 0; j < size; j++) out.f32[to + j] = x.f32[from + j]! * factor;
      }
    }
  },

  affine(xHandle, outHandle, options) {
    const { x, out } = pair('affine', xHandle, outHandle);
    const scale = vectorValues('affine', 'scale', options.scale, x.cols);
    const bias = vectorValues('affine', 'bias', options.bias, x.cols);
    for (let r = 0; r < x.rows; r++) {
      const from = x.offset + r * x.stride;
      const to = out.offset + r * out.stride;
      for (let c = 0; c < x.cols; c++) {
        const scaled = scale === null ? x.f32[from + c]! : x.f32[from + c]! * scale[c]!;
        out.f32[to + c] = bias === null ? scaled : scaled + bias[c]!;
      }
    }
  },

  scale(x, out, factor) {
    map('scale', x, out, (value) => value * factor);
  },

  clamp(x, out, { low, high }) {
    const least = low ?? -Infinity;
    const most = high ?? Infinity;
    map('clamp', x, out, (value) => Math.min(Math.max(value, least), most));
  },

  softcap(x, out, cap) {
    map('softcap', x, out, (value) => cap * Math.tanh(value / cap));
  },
};
