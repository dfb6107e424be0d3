import type { Tensor } from '../tensor.js';

/** Whether the memory of a tensor and of its views may still be used. */
export interface Lifetime {
  live: boolean;
}

/** Memory of one allocation, to be read as floats or as integers. */
export interface Memory {
  readonly f32: Float32Array;
  readonly i32: Int32Array;
}

export const newMemory = (elements: number): Memory => {
  const buffer = new ArrayBuffer(elements * 4);
  return { f32: new Float32Array(buffer), i32: new Int32Array(buffer) };
};

/** What a tensor handle is here: element (r, c) stands at `offset + r * stride + c` of the memory. */
export class HostTensor {
  constructor(
    readonly rows: number,
    readonly cols: number,
    readonly dtype: 'f32' | 'i32',
    readonly f32: Float32Array,
    readonly i32: Int32Array,
    readonly offset: number,
    readonly stride: number,
    readonly lifetime: Lifetime,
  ) {}

  /** Values follow each other without gaps. */
  get adjacent(): boolean {
    return this.stride === this.cols || this.rows <= 1;
  }

  view(offset: number, rows: number, cols: number): HostTensor {
    return new HostTensor(rows, cols, this.dtype, this.f32, this.i32, offset, this.stride, this.lifetime);
  }
}

export const tensorHandle = (tensor: HostTensor): Tensor => tensor as unknown as Tensor;

/** The tensor behind a handle. Throws for another implementation's handle and after its memory was released. */
export const hostTensor = (handle: Tensor): HostTensor => {
  const tensor: unknown = handle;
  if (!(tensor instanceof HostTensor)) throw new Error('a tensor of other ops was given to the reference ops');
  if (!tensor.lifetime.live) throw new Error(`a tensor ${shapeOf(tensor)} is used after its memory was released`);
  return tensor;
};

export interface Shaped {
  readonly rows: number;
  readonly cols: number;
}

export const shapeOf = ({ rows, cols }: Shaped): string => `[${rows}, ${cols}]`;

/** Wrong shapes are a bug of the part that called: a plain error, no message for users. */
export const shapeError = (op: string, rule: string, shapes: Readonly<Record<string, Shaped | number>>): Error => {
  const given = Object.entries(shapes).map(
    ([name, shape]) => `${name} ${typeof shape === 'number' ? shape : shapeOf(shape)}`,
  );
  return new Error(`${op}: ${rule}; given ${given.join(', ')}`);
};

const typed = (op: string, name: string, handle: Tensor, dtype: 'f32' | 'i32'): HostTensor => {
  const tensor = hostTensor(handle);
  if (tensor.dtype !== dtype) throw new Error(`${op}: ${name} must be ${dtype}, given ${tensor.dtype}`);
  return tensor;
};

export const floats = (op: string, name: string, handle: Tensor): HostTensor => typed(op, name, handle, 'f32');
export const integers = (op: string, name: string, handle: Tensor): HostTensor => typed(op, name, handle, 'i32');

export const requireSameShape = (op: string, x: HostTensor, out: HostTensor): void => {
  if (x.rows !== out.rows || x.cols !== out.cols) throw shapeError(op, 'x and out must have one shape', { x, out });
};

const end = (t: HostTensor): number => t.offset + (t.rows - 1) * t.stride + t.cols;

/** True where two tensors may share an element. Windows of one wider tensor that lie side by side do not. */
export const overlap = (a: HostTensor, b: HostTensor): boolean => {
  if (a.f32.buffer !== b.f32.buffer || a.rows === 0 || b.rows === 0) return false;
  if (a.offset >= end(b) || b.offset >= end(a)) return false;
  if (a.stride !== b.stride) return true;
  const shift = (((b.offset - a.offset) % a.stride) + a.stride) % a.stride;
  return shift < a.cols || shift + b.cols > a.stride;
};

/** `out` is `x` itself, or has nothing in common with it. */
export const requireInPlaceOrApart = (op: string, x: HostTensor, out: HostTensor): void => {
  const same = x.offset === out.offset && x.stride === out.stride;
  if (!same && overlap(x, out)) throw new Error(`${op}: out overlaps its input without being it`);
};

export const requireApart = (op: string, x: HostTensor, out: HostTensor): void => {
  if (overlap(x, out)) throw new Error(`${op}: out must not share memory with its input`);
};
