import type { ExpertOps } from '../expert-ops.js';
import type { Tensor } from '../tensor.js';
import {
  floats,
  integers,
  requireInPlaceOrApart,
  requireSameShape,
  shapeError,
  type HostTensor,
} from './host-tensor.js';

const pair = (op: string, xHandle: Tensor, outHandle: Tensor): { x: HostTensor; out: HostTensor } => {
  const x = floats(op, 'x', xHandle);
  const out = floats(op, 'out', outHandle);
  requireSameShape(op, x, out);
  requireInPlaceOrApart(op, x, out);
  return { x, out };
};

/** Row r of a tensor as a view of its memory. */
const row = (t: HostTensor, r: number): Float32Array => {
  const start = t.offset + r * t.stride;
  return t.f32.subarray(start, start + t.cols);
};

/** Columns of the `count` largest values, largest first; ties: the lower column; NaN counts as smallest. */
const largest = (values: ArrayLike<number>, count: number): number[] => {
  const rank = (value: number): number => (Number.isNaN(value) ? -Infinity : value);
  return Array.from({ length: values.length }, (_, column) => column)
    .sort((a, b) => rank(values[b]!) - rank(values[a]!) || a - b)
    .slice(0, count);
};

type RoutingOps = Pick<ExpertOps, 'softmax' | 'keepGroups' | 'topK' | 'gather' | 'normaliseRows'>;

/** From scores to chosen experts and their weights. */
export const routingOps: RoutingOps = {
  softmax(xHandle, outHandle) {
    const { x, out } = pair('softmax', xHandle, outHandle);
    for (let r = 0; r < x.rows; r++) {
      const from = row(x, r);
      const top = from.reduce((best, value) => Math.max(best, value), -Infinity);
      const powers = Float64Array.from(from, (value) => Math.exp(value - top));
      const sum = powers.reduce((total, value) => total + value, 0);
      row(out, r).set(powers.map((value) => value / sum));
    }
  },

  keepGroups(xHandle, outHandle, { groups, keep, by, masked }) {
    const { x, out } = pair('keepGroups', xHandle, outHandle);
    if (groups < 1 || x.cols % groups !== 0 || keep > groups) {
      throw shapeError('keepGroups', 'groups must divide the columns, keep at most all', { x, groups, keep });
    }
    const size = x.cols / groups;
    for (let r = 0; r < x.rows; r++) {
      const values = row(x, r).slice();
      const strength = Array.from({ length: groups }, (_, g) => {
        const group = values.subarray(g * size, (g + 1) * size);
        const [first = -Infinity, second = 0] = largest(group, 2).map((column) => group[column]!);
        return by === 'max' ? first : Math.fround(first + second);
      });
      const kept = new Set(largest(strength, keep));
      row(out, r).set(values.map((value, column) => (kept.has(Math.floor(column / size)) ? value : masked)));
    }
  },

  topK(xHandle, idsHandle) {
    const x = floats('topK', 'x', xHandle);
    const ids = integers('topK', 'ids', idsHandle);
    if (ids.rows !== x.rows || ids.cols > x.cols) throw shapeError('topK', 'ids [rows, k <= columns]', { x, ids });
    for (let r = 0; r < x.rows; r++) ids.i32.set(largest(row(x, r), ids.cols), ids.offset + r * ids.stride);
  },

  gather(xHandle, idsHandle, outHandle) {
    const x = floats('gather', 'x', xHandle);
    const ids = integers('gather', 'ids', idsHandle);
    const out = floats('gather', 'out', outHandle);
    if (ids.rows !== x.rows || ids.rows !== out.rows || ids.cols !== out.cols) {
      throw shapeError('gather', 'x [rows, cols], ids and out [rows, k]', { x, ids, out });
    }
    for (let r = 0; r < x.rows; r++) {
      for (let j = 0; j < ids.cols; j++) {
        const id = ids.i32[ids.offset + r * ids.stride + j]!;
        if (id < -1 || id >= x.cols) throw new Error(`gather: column ${id} of ${x.cols}`);
        out.f32[out.offset + r * out.stride + j] = id < 0 ? 0 : x.f32[x.offset + r * x.stride + id]!;
      }
    }
  },

  normaliseRows(xHandle, outHandle, { eps, floor }) {
    const { x, out } = pair('normaliseRows', xHandle, outHandle);
    for (let r = 0; r < x.rows; r++) {
      const from = row(x, r);
      const sum = Math.max(from.reduce((total, value) => total + value, 0) + eps, floor);
      row(out, r).set(from.map((value) => value / sum));
    }
  },
};
