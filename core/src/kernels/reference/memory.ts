import type { Ops } from '../ops.js';
import type { Arena } from './arena.js';
import { HostTensor, hostTensor, shapeError, tensorHandle } from './host-tensor.js';

type MemoryOps = Pick<
  Ops,
  'tensor' | 'mark' | 'release' | 'columns' | 'rows' | 'reshape' | 'upload' | 'host' | 'write' | 'copy'
>;

const isCount = (value: number): boolean => Number.isInteger(value) && value >= 0;

const requireWindow = (op: string, start: number, count: number, length: number): void => {
  if (!isCount(start) || !isCount(count) || start + count > length) {
    throw new Error(`${op}: [${start}, ${start + count}) does not lie within [0, ${length})`);
  }
};

const copyIn = (x: HostTensor, data: Float32Array | Int32Array): void => {
  const name = data instanceof Float32Array ? 'f32' : 'i32';
  if (name !== x.dtype) throw new Error(`write: ${name} values for a tensor of ${x.dtype}`);
  if (data.length !== x.rows * x.cols) throw shapeError('write', 'one value per element', { x, values: data.length });
  const target = x[x.dtype];
  for (let r = 0; r < x.rows; r++) target.set(data.subarray(r * x.cols, (r + 1) * x.cols), x.offset + r * x.stride);
};

/** Scratch tensors, their windows, and the way in and out. */
export const memoryOps = (arena: Arena): MemoryOps => {
  const allocate = (rows: number, cols: number, dtype: 'f32' | 'i32'): HostTensor => {
    if (!isCount(rows) || !isCount(cols)) throw new Error(`tensor: no shape [${rows}, ${cols}]`);
    const { f32, i32, offset, lifetime } = arena.take(rows * cols);
    return new HostTensor(rows, cols, dtype, f32, i32, offset, cols, lifetime);
  };

  return {
    tensor: (rows, cols, dtype = 'f32') => tensorHandle(allocate(rows, cols, dtype)),
    mark: () => arena.mark(),
    release: (mark) => {
      arena.release(mark);
    },

    columns(handle, start, count) {
      const x = hostTensor(handle);
      requireWindow('columns', start, count, x.cols);
      return tensorHandle(x.view(x.offset + start, x.rows, count));
    },

    rows(handle, start, count) {
      const x = hostTensor(handle);
      requireWindow('rows', start, count, x.rows);
      return tensorHandle(x.view(x.offset + start * x.stride, count, x.cols));
    },

    reshape(handle, rows, cols) {
      const x = hostTensor(handle);
      if (!x.adjacent || !isCount(rows) || !isCount(cols) || rows * cols !== x.rows * x.cols) {
        throw shapeError('reshape', 'adjacent rows, as many elements', { x, stride: x.stride, rows, cols });
      }
      return tensorHandle(new HostTensor(rows, cols, x.dtype, x.f32, x.i32, x.offset, cols, x.lifetime));
    },

    upload(data, rows, cols) {
      const x = allocate(rows, cols, data instanceof Float32Array ? 'f32' : 'i32');
      copyIn(x, data);
      return tensorHandle(x);
    },

    host(handle) {
      const x = hostTensor(handle);
      const memory = x[x.dtype];
      if (x.adjacent) return memory.subarray(x.offset, x.offset + x.rows * x.cols);
      const copy = x.dtype === 'f32' ? new Float32Array(x.rows * x.cols) : new Int32Array(x.rows * x.cols);
      for (let r = 0; r < x.rows; r++) {
        const start = x.offset + r * x.stride;
        copy.set(memory.subarray(start, start + x.cols), r * x.cols);
      }
      return copy;
    },

    write(handle, data) {
      copyIn(hostTensor(handle), data);
    },

    copy(source, target) {
      const x = hostTensor(source);
      const out = hostTensor(target);
      if (x.rows !== out.rows || x.cols !== out.cols || x.dtype !== out.dtype) {
        throw shapeError('copy', `x (${x.dtype}) and out (${out.dtype}) must be alike`, { x, out });
      }
      for (let r = 0; r < x.rows; r++) {
        const start = x.offset + r * x.stride;
        // As integers: a float's bits pass unchanged, whatever they are.
        out.i32.set(x.i32.subarray(start, start + x.cols), out.offset + r * out.stride);
      }
    },
  };
};
