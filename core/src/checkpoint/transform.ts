import { decodeFloats } from '../kernels/half.js';
import type { Transform } from '../plan/weight-rules.js';
import { elementBytes } from './dtypes.js';
import { byteLength, elementsOf, lazy, type LazyTensor } from './lazy-tensor.js';
import { elementCount, sameShape } from './shape.js';

/** A transform that a stored shape does not allow; the binder reports it as a wrong shape. */
export class ShapeMisfit extends Error {
  override readonly name = 'ShapeMisfit';
}

const misfit = (reason: string): never => {
  throw new ShapeMisfit(reason);
};

const spell = (shape: readonly number[]): string => `[${shape.join(', ')}]`;

/**
 * Applies transforms in order. `tensors[i][e]` is the tensor of the i-th name of a source and its e-th expert: `stack`
 * makes one of the experts, `concat` one of the names, every other transform applies to each tensor there is.
 * Shapes are checked at once, bytes move when they are asked for. Throws ShapeMisfit.
 */
export const applyTransforms = (
  tensors: readonly (readonly LazyTensor[])[],
  transforms: readonly Transform[],
): LazyTensor => {
  let grid = tensors;
  for (const transform of transforms) {
    if (transform.op === 'stack') grid = grid.map((experts) => [stack(experts)]);
    else if (transform.op === 'concat') grid = joinNames(grid, transform.axis);
    else grid = grid.map((experts) => experts.map((tensor) => transformOne(tensor, transform)));
  }
  const [only] = grid;
  if (grid.length !== 1 || only?.length !== 1) return misfit(`${grid.flat().length} tensors are left, not one`);
  return only[0] as LazyTensor;
};

const joinNames = (grid: readonly (readonly LazyTensor[])[], axis: number): LazyTensor[][] => {
  const experts = grid[0]?.length ?? 0;
  return [
    Array.from({ length: experts }, (_, e) =>
      concat(
        grid.map((row) => row[e] as LazyTensor),
        axis,
      ),
    ),
  ];
};

type SingleTransform = Exclude<Transform, { op: 'stack' } | { op: 'concat' }>;

const transformOne = (tensor: LazyTensor, transform: SingleTransform): LazyTensor => {
  switch (transform.op) {
    case 'transpose':
      if (tensor.shape.length !== 2) return misfit(`transpose needs two axes, not ${spell(tensor.shape)}`);
      return swapLastAxes(tensor);
    case 'transposeLast':
      if (tensor.shape.length !== 3) return misfit(`transposeLast needs three axes, not ${spell(tensor.shape)}`);
      return swapLastAxes(tensor);
    case 'rows':
      return rowsPerGroup(tensor, { groups: 1, size: tensor.shape[0] ?? 0, ...transform });
    case 'perGroup':
      return rowsPerGroup(tensor, transform);
    case 'squeeze':
      return squeeze(tensor, transform.axis);
    case 'reshape':
      if (elementCount(tensor.shape) !== elementCount(transform.shape)) {
        return misfit(`${spell(tensor.shape)} cannot become ${spell(transform.shape)}`);
      }
      return lazy(tensor.dtype, transform.shape, tensor.bytes);
    case 'split':
      return split(tensor, transform);
  }
};

/** Rows `[start, start + count)` of each of `groups` groups of `size` rows; a view where the rows are adjacent. */
const rowsPerGroup = (
  tensor: LazyTensor,
  at: { readonly groups: number; readonly size: number; readonly start: number; readonly count: number },
): LazyTensor => {
  const [rows, ...rest] = tensor.shape;
  if (rows === undefined || rows !== at.groups * at.size || at.start + at.count > at.size) {
    const wanted = `rows ${at.start} to ${at.start + at.count} of each of ${at.groups} groups of ${at.size}`;
    return misfit(`${spell(tensor.shape)} has not ${wanted}`);
  }
  const rowBytes = elementCount(rest) * elementBytes(tensor.dtype);
  const shape = [at.groups * at.count, ...rest];
  return lazy(tensor.dtype, shape, () => {
    const bytes = tensor.bytes();
    return gather(bytes, at.groups, at.size * rowBytes, at.start * rowBytes, at.count * rowBytes);
  });
};

/** Bytes `[start, start + count)` of each of `blocks` blocks of `size` bytes. */
const gather = (bytes: Uint8Array, blocks: number, size: number, start: number, count: number): Uint8Array => {
  if (blocks === 1 || count === size) return bytes.subarray(start, start + blocks * count);
  const out = new Uint8Array(blocks * count);
  for (let block = 0; block < blocks; block++) {
    const from = block * size + start;
    out.set(bytes.subarray(from, from + count), block * count);
  }
  return out;
};

const squeeze = (tensor: LazyTensor, axis: number | undefined): LazyTensor => {
  if (axis !== undefined && tensor.shape[axis] !== 1) {
    return misfit(`axis ${axis} of ${spell(tensor.shape)} has not length 1`);
  }
  const shape = tensor.shape.filter((length, at) => (axis === undefined ? length !== 1 : at !== axis));
  return lazy(tensor.dtype, shape, tensor.bytes);
};

/** Gate or up of an axis that holds both. */
const split = (tensor: LazyTensor, at: Extract<Transform, { op: 'split' }>): LazyTensor => {
  const length = tensor.shape[at.axis];
  if (length === undefined || length % 2 !== 0) {
    return misfit(`axis ${at.axis} of ${spell(tensor.shape)} does not hold two of a kind`);
  }
  const half = length / 2;
  const shape = tensor.shape.map((size, axis) => (axis === at.axis ? half : size));
  const outer = elementCount(tensor.shape.slice(0, at.axis));
  const inner = elementCount(tensor.shape.slice(at.axis + 1)) * elementBytes(tensor.dtype);
  const second = at.part === 'up' ? 1 : 0;
  return lazy(tensor.dtype, shape, () =>
    at.layout === 'halves'
      ? gather(tensor.bytes(), outer, length * inner, second * half * inner, half * inner)
      : gather(tensor.bytes(), outer * half, 2 * inner, second * inner, inner),
  );
};

/** `[…, a, b]` becomes `[…, b, a]`. */
const swapLastAxes = (tensor: LazyTensor): LazyTensor => {
  const shape = [...tensor.shape];
  const cols = shape.pop() ?? 1;
  const rows = shape.pop() ?? 1;
  const matrices = elementCount(shape);
  return lazy(tensor.dtype, [...shape, cols, rows], () => {
    const source = elementsOf(tensor.bytes(), tensor.dtype);
    const out = source.slice();
    for (let matrix = 0; matrix < matrices; matrix++) {
      const base = matrix * rows * cols;
      for (let row = 0; row < rows; row++) {
        for (let col = 0; col < cols; col++) out[base + col * rows + row] = source[base + row * cols + col] as never;
      }
    }
    return new Uint8Array(out.buffer, out.byteOffset, out.byteLength);
  });
};

/** Tensors of one shape with a new axis 0 of their number. */
const stack = (tensors: readonly LazyTensor[]): LazyTensor => {
  const shape = tensors[0]?.shape ?? [];
  const other = tensors.find((tensor) => !sameShape(tensor.shape, shape));
  if (other !== undefined) return misfit(`${spell(shape)} and ${spell(other.shape)} do not stack`);
  const parts = oneDtype(tensors).map((tensor) => lazy(tensor.dtype, [1, ...shape], tensor.bytes));
  return concat(parts, 0);
};

const concat = (tensors: readonly LazyTensor[], axis: number): LazyTensor => {
  const parts = oneDtype(tensors);
  const first = parts[0];
  if (first === undefined || axis >= first.shape.length) return misfit(`there is no axis ${axis} to join`);
  const without = (shape: readonly number[]): number[] => shape.filter((_, at) => at !== axis);
  const other = parts.find((part) => !sameShape(without(part.shape), without(first.shape)));
  if (other !== undefined) return misfit(`${spell(first.shape)} and ${spell(other.shape)} do not join at ${axis}`);
  if (parts.length === 1) return first;

  const joined = parts.reduce((sum, part) => sum + (part.shape[axis] ?? 0), 0);
  const shape = first.shape.map((length, at) => (at === axis ? joined : length));
  const outer = elementCount(first.shape.slice(0, axis));
  return lazy(first.dtype, shape, () => {
    const out = new Uint8Array(parts.reduce((sum, part) => sum + byteLength(part), 0));
    const stride = out.length / outer;
    let at = 0;
    for (const part of parts) {
      const bytes = part.bytes();
      const run = bytes.length / outer;
      for (let block = 0; block < outer; block++) {
        out.set(bytes.subarray(block * run, (block + 1) * run), block * stride + at);
      }
      at += run;
    }
    return out;
  });
};

/** Tensors of different float types become F32, which holds each value exactly. */
const oneDtype = (tensors: readonly LazyTensor[]): readonly LazyTensor[] => {
  if (tensors.every((tensor) => tensor.dtype === tensors[0]?.dtype)) return tensors;
  return tensors.map((tensor) =>
    tensor.dtype === 'I32' || tensor.dtype === 'I64'
      ? misfit('integer tensors of different types do not join')
      : lazy('F32', tensor.shape, widened(tensor, tensor.dtype)),
  );
};

const widened = (tensor: LazyTensor, dtype: 'F32' | 'F16' | 'BF16') => (): Uint8Array => {
  const values = decodeFloats(tensor.bytes(), dtype);
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
};
