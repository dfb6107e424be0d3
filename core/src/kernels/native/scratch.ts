import type { Ops } from '../ops.js';
import type { Tensor } from '../tensor.js';
import type { CommandList } from './commands.js';
import { NativeTensor, StateView, tensorOf } from './handles.js';
import { readState, writeState } from './states.js';

/** Tensors start at multiples of a cache line. */
const ALIGN = 16;

type ScratchOps = Pick<
  Ops,
  'tensor' | 'mark' | 'release' | 'columns' | 'rows' | 'reshape' | 'upload' | 'host' | 'write'
>;

/** As much of the arena as JavaScript sees at first. */
const WINDOW_BYTES = 2 ** 24;

/** Scratch tensors in the arena of the engine, as a stack. Whoever reads or writes values runs the list first. */
export class NativeScratch implements ScratchOps {
  readonly #bytes: number;
  #window = new ArrayBuffer(0);
  #f32 = new Float32Array();
  #i32 = new Int32Array();
  #top = 0;

  /** `bytes`: those of the engine's arena. */
  constructor(
    private readonly list: CommandList,
    bytes: number,
  ) {
    this.#bytes = bytes;
  }

  tensor(rows: number, cols: number, dtype: 'f32' | 'i32' = 'f32'): Tensor {
    const offset = this.#top;
    const end = offset + Math.ceil((rows * cols) / ALIGN) * ALIGN;
    if (end * 4 > this.#bytes) throw new Error(`scratch of ${end * 4} bytes, ${this.#bytes} are reserved`);
    this.#top = end;
    return new NativeTensor(offset, rows, cols, cols, dtype).handle;
  }

  mark(): number {
    return this.#top;
  }

  release(mark: number): void {
    if (mark > this.#top) throw new Error(`release: mark ${mark} was released before (now at ${this.#top})`);
    this.#top = mark;
  }

  columns(x: Tensor, start: number, count: number): Tensor {
    const t = tensorOf(x);
    if (start < 0 || start + count > t.cols) throw new Error(`columns: [${start}, ${start + count}) of ${t.cols}`);
    return new NativeTensor(t.offset + start, t.rows, count, t.stride, t.dtype).handle;
  }

  rows(x: Tensor, start: number, count: number): Tensor {
    const t = tensorOf(x);
    if (start < 0 || start + count > t.rows) throw new Error(`rows: [${start}, ${start + count}) of ${t.rows}`);
    return new NativeTensor(t.offset + start * t.stride, count, t.cols, t.stride, t.dtype).handle;
  }

  reshape(x: Tensor, rows: number, cols: number): Tensor {
    const t = tensorOf(x);
    if ((t.stride !== t.cols && t.rows > 1) || rows * cols !== t.rows * t.cols) {
      throw new Error(`reshape: [${t.rows}, ${t.cols}] with rows of ${t.stride} to [${rows}, ${cols}]`);
    }
    return new NativeTensor(t.offset, rows, cols, cols, t.dtype).handle;
  }

  upload(data: Float32Array | Int32Array, rows: number, cols: number): Tensor {
    const x = this.tensor(rows, cols, data instanceof Float32Array ? 'f32' : 'i32');
    this.write(x, data);
    return x;
  }

  host(x: Tensor): Float32Array | Int32Array {
    this.list.run();
    if ((x as unknown) instanceof StateView) return readState(this.list, (x as unknown as StateView).state);
    const { offset, rows, cols, stride, dtype } = tensorOf(x);
    const memory = this.#memory(dtype, offset + (rows - 1) * stride + cols);
    if (stride === cols || rows === 1) return memory.subarray(offset, offset + rows * cols);
    const copy = dtype === 'f32' ? new Float32Array(rows * cols) : new Int32Array(rows * cols);
    for (let r = 0; r < rows; r++) copy.set(memory.subarray(offset + r * stride, offset + r * stride + cols), r * cols);
    return copy;
  }

  write(x: Tensor, data: Float32Array | Int32Array): void {
    this.list.run();
    if ((x as unknown) instanceof StateView) {
      const { state } = x as unknown as StateView;
      writeState(this.list, state, data);
      return;
    }
    const { offset, rows, cols, stride, dtype } = tensorOf(x);
    if (data.length !== rows * cols) throw new Error(`write: ${data.length} values for [${rows}, ${cols}]`);
    const memory = this.#memory(dtype, offset + (rows - 1) * stride + cols);
    for (let r = 0; r < rows; r++) memory.set(data.subarray(r * cols, (r + 1) * cols), offset + r * stride);
  }

  dispose(): void {
    this.#window = new ArrayBuffer(0);
    this.#f32 = new Float32Array();
    this.#i32 = new Int32Array();
  }

  /**
   * The arena up to this element and further. All of it at once would be gigabytes in the books of the garbage collector,
   * which would set to work at every load. Views that were given before go on to see the same memory.
   */
  #memory(dtype: 'f32' | 'i32', end: number): Float32Array | Int32Array {
    if (end > this.#f32.length) {
      const wanted = Math.max(WINDOW_BYTES, 2 * this.#window.byteLength, end * 4);
      this.#window = this.list.addon.arena(this.list.engine, Math.min(wanted, this.#bytes));
      this.#f32 = new Float32Array(this.#window);
      this.#i32 = new Int32Array(this.#window);
    }
    return dtype === 'f32' ? this.#f32 : this.#i32;
  }
}
