import type { NormOptions, Ops } from '../ops.js';
import type { Tensor, Vector } from '../tensor.js';
import { floats, requireInPlaceOrApart, requireSameShape, shapeError, type HostTensor } from './host-tensor.js';
import { hostVector } from './weights.js';

/** A weight or bias of `size` values serves every group, one of `cols` has its own values for each. */
interface GroupVector {
  readonly values: Float32Array;
  readonly perGroup: boolean;
}

const groupVector = (
  op: string,
  name: string,
  handle: Vector | null,
  size: number,
  cols: number,
): GroupVector | null => {
  if (handle === null) return null;
  const { values } = hostVector(handle);
  if (values.length !== size && values.length !== cols) {
    throw new Error(`${op}: ${name} has ${values.length} values, [${size}] or [${cols}] is needed`);
  }
  return { values, perGroup: values.length === cols };
};

const at = (vector: GroupVector | null, group: number, size: number, j: number, absent: number): number =>
  vector === null ? absent : vector.values[vector.perGroup ? group * size + j : j]!;

interface NormCall {
  readonly x: HostTensor;
  readonly out: HostTensor;
  readonly weight: GroupVector | null;
}

const open = (op: string, xHandle: Tensor, outHandle: Tensor, { size, weight }: NormOptions): NormCall => {
  const x = floats(op, 'x', xHandle);
  const out = floats(op, 'out', outHandle);
  requireSameShape(op, x, out);
  requireInPlaceOrApart(op, x, out);
  if (size < 1 || x.cols % size !== 0) throw shapeError(op, 'size must divide the columns', { x, size });
  return { x, out, weight: groupVector(op, 'weight', weight, size, x.cols) };
};

export const normOps: Pick<Ops, 'rmsNorm' | 'layerNorm'> = {
  rmsNorm(xHandle, outHandle, options) {
    const { x, out, weight } = open('rmsNorm', xHandle, outHandle, options);
    const { size, eps, offset } = options;
    for (let r = 0; r < x.rows; r++) {
      for (let group = 0; group < x.cols / size; group++) {
        const from = x.offset + r * x.stride + group * size;
        const to = out.offset + r * out.stride + group * size;
        let squares = 0;
        for (let j = 0; j < size; j++) squares += x.f32[from + j]! ** 2;
        const factor = 1 / Math.sqrt(squares / size + eps);
        for (let j = 0; j < size; j++) {
          const scale = weight === null ? 1 : at(weight, group, size, j, 1) + offset;
          out.f32[to + j] = x.f32[from + j]! * factor * scale;
        }
      }
    }
  },

  layerNorm(xHandle, outHandle, options) {
    const { x, out, weight } = open('layerNorm', xHandle, outHandle, options);
    const { size, eps, offset } = options;
    const bias = groupVector('layerNorm', 'bias', options.bias, size, x.cols);
    for (let r = 0; r < x.rows; r++) {
      for (let group = 0; group < x.cols / size; group++) {
        const from = x.offset + r * x.stride + group * size;
        const to = out.offset + r * out.stride + group * size;
        let sum = 0;
        for (let j = 0; j < size; j++) sum += x.f32[from + j]!;
        const mean = sum / size;
        let squares = 0;
        for (let j = 0; j < size; j++) squares += (x.f32[from + j]! - mean) ** 2;
        const factor = 1 / Math.sqrt(squares / size + eps);
        for (let j = 0; j < size; j++) {
          const scale = weight === null ? 1 : at(weight, group, size, j, 1) + offset;
          out.f32[to + j] = (x.f32[from + j]! - mean) * factor * scale + at(bias, group, size, j, 0);
        }
      }
    }
  },
};
