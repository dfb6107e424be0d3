import { growing, type StateSpec } from '../../axes/state.js';
import type { ActivationName, AttendOptions, NormOptions, Ops, StateSnapshot } from '../ops.js';
import type { RecurrentSegment } from '../recurrent-ops.js';
import type { Matrix, MatrixStack, State, Tensor, Vector } from '../tensor.js';
import { decodeFloats } from '../half.js';
import { loadAddon, type Addon } from './addon.js';
import { CommandList } from './commands.js';
import {
  matrixOf,
  NativeState,
  NativeTensor,
  NativeVector,
  StateView,
  stackOf,
  stateOf,
  tensorOf,
  vectorOf,
} from './handles.js';
import { nativeMatrix, packed } from './weights.js';

export interface NativeOptions {
  readonly threads: number;
  readonly kvCacheDtype: 'f16' | 'f32';
  /** A kernel set by name (`KVAD_CPU`); null: the best that the machine runs. */
  readonly kernels: string | null;
  /** Activations of quantised products stay f32 (`KVAD_DEQUANT=1`). */
  readonly dequantise: boolean;
}

/** Address space for scratch, not memory: pages are taken when they are touched. */
const ARENA_BYTES = 2 ** 32;
const ALIGN = 16;

const ACTIVATIONS: readonly ActivationName[] = [
  'silu',
  'gelu',
  'gelu_tanh',
  'quick_gelu',
  'relu',
  'relu2',
  'tanh',
  'sigmoid',
  'softplus',
  'identity',
];

const view = (x: Tensor): readonly number[] => {
  const { offset, rows, cols, stride } = tensorOf(x);
  return [offset, rows, cols, stride];
};
const vectorId = (vector: Vector | null): number => (vector ? vectorOf(vector).id : -1);
const code = (f: ActivationName): number => ACTIVATIONS.indexOf(f);

/**
 * The native arithmetic. Calls are recorded; `host` and whatever touches memory directly run the list first. Null where
 * the addon is not there.
 */
export const createNativeOps = (options: NativeOptions): Ops | null => {
  const addon = loadAddon();
  return addon && new NativeOps(addon, options);
};

class NativeOps implements Ops {
  readonly name: string;
  readonly threads: number;
  readonly #list: CommandList;
  readonly #half: boolean;
  #f32: Float32Array;
  #i32: Int32Array;
  #top = 0;

  constructor(
    readonly addon: Addon,
    options: NativeOptions,
  ) {
    const engine = addon.create(options.threads, options.kernels ?? '', ARENA_BYTES, options.dequantise ? 1 : 0);
    const arena = addon.arena(engine);
    this.name = addon.kernels(engine);
    this.threads = options.threads;
    this.#list = new CommandList(addon, engine);
    this.#half = options.kvCacheDtype === 'f16';
    this.#f32 = new Float32Array(arena);
    this.#i32 = new Int32Array(arena);
  }

  get #engine() {
    return this.#list.engine;
  }

  // --- memory ---------------------------------------------------------------------------------

  tensor(rows: number, cols: number, dtype: 'f32' | 'i32' = 'f32'): Tensor {
    const offset = this.#top;
    const end = offset + Math.ceil((rows * cols) / ALIGN) * ALIGN;
    if (end > this.#f32.length) throw new Error(`scratch of ${end * 4} bytes, ${this.#f32.length * 4} are reserved`);
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
    this.#list.run();
    if ((x as unknown) instanceof StateView) return this.#readState((x as unknown as StateView).state);
    const { offset, rows, cols, stride, dtype } = tensorOf(x);
    const memory = dtype === 'f32' ? this.#f32 : this.#i32;
    if (stride === cols || rows === 1) return memory.subarray(offset, offset + rows * cols);
    const copy = dtype === 'f32' ? new Float32Array(rows * cols) : new Int32Array(rows * cols);
    for (let r = 0; r < rows; r++) copy.set(memory.subarray(offset + r * stride, offset + r * stride + cols), r * cols);
    return copy;
  }

  write(x: Tensor, data: Float32Array | Int32Array): void {
    this.#list.run();
    if ((x as unknown) instanceof StateView) {
      const { state } = x as unknown as StateView;
      this.addon.stateWrite(this.#engine, state.id, 0, state.length, bytesOf(data));
      return;
    }
    const { offset, rows, cols, stride, dtype } = tensorOf(x);
    if (data.length !== rows * cols) throw new Error(`write: ${data.length} values for [${rows}, ${cols}]`);
    const memory = dtype === 'f32' ? this.#f32 : this.#i32;
    for (let r = 0; r < rows; r++) memory.set(data.subarray(r * cols, (r + 1) * cols), offset + r * stride);
  }

  // --- weights --------------------------------------------------------------------------------

  matrix(...[data, precision]: Parameters<Ops['matrix']>): Matrix {
    return nativeMatrix(this.addon, this.#engine, data, precision) as unknown as Matrix;
  }

  stack(...[data, precision]: Parameters<Ops['stack']>): MatrixStack {
    return nativeMatrix(this.addon, this.#engine, data, precision) as unknown as MatrixStack;
  }

  get quantLayout(): number {
    return this.addon.layoutVersion;
  }

  pack(...[data, precision]: Parameters<Ops['pack']>): ReturnType<Ops['pack']> {
    return packed(this.addon, this.#engine, data, precision);
  }

  vector(data: Parameters<Ops['vector']>[0]): Vector {
    if (data.dtype !== 'F32' && data.dtype !== 'F16' && data.dtype !== 'BF16')
      throw new Error(`a vector of ${data.dtype}`);
    return this.constant(Float32Array.from(decodeFloats(data.bytes, data.dtype)));
  }

  constant(values: Float32Array): Vector {
    return new NativeVector(this.addon.vector(this.#engine, values), values.length) as unknown as Vector;
  }

  // --- state ----------------------------------------------------------------------------------

  state(spec: StateSpec): State {
    const width = spec.shape.reduce((product, size) => product * size, 1);
    const half = spec.dtype === 'f16' || (spec.dtype === 'cache' && this.#half);
    const id = this.addon.state(this.#engine, width, half ? 1 : 0, spec.init);
    const state = new NativeState(id, spec.name, width, growing(spec.kind), half);
    if (!state.grows) state.bytes = this.addon.stateReserve(this.#engine, id, 1);
    return state as unknown as State;
  }

  stateBytes(state: State): number {
    return stateOf(state).bytes;
  }

  truncate(state: State, length: number): void {
    const s = stateOf(state);
    if (!s.grows || length < 0 || length > s.length) throw new Error(`truncate: state ${s.name} to ${length}`);
    s.length = length;
  }

  snapshot(state: State): StateSnapshot {
    const s = stateOf(state);
    this.#list.run();
    const data = new Uint8Array(s.length * s.rowBytes);
    this.addon.stateRead(this.#engine, s.id, 0, s.length, data);
    return { length: s.length, bytes: data.byteLength, data };
  }

  restore(state: State, { length, data }: StateSnapshot): void {
    const s = stateOf(state);
    if (!(data instanceof Uint8Array) || data.byteLength !== length * s.rowBytes) {
      throw new Error(`restore: the snapshot is not one of state ${s.name}`);
    }
    this.#list.run();
    if (length > 0) s.bytes = this.addon.stateReserve(this.#engine, s.id, length);
    this.addon.stateWrite(this.#engine, s.id, 0, length, data);
    s.length = length;
  }

  freeState(state: State): void {
    const s = stateOf(state);
    this.#list.run();
    this.addon.stateFree(this.#engine, s.id);
    s.live = false;
  }

  append(state: State, x: Tensor, start: number, length: number, position: number): void {
    const s = stateOf(state);
    if (!s.grows || position < 0 || position > s.length) {
      throw new Error(`append: rows at ${position} of state ${s.name}, which has ${s.length}`);
    }
    s.bytes = this.addon.stateReserve(this.#engine, s.id, position + length);
    this.#list.push('append', [s.id, ...view(x), start, length, position]);
    s.length = position + length;
  }

  stateTensor(state: State): Tensor {
    const s = stateOf(state);
    if (s.half) throw new Error(`state ${s.name} is f16: only f32 states are read on the host`);
    return new StateView(s) as unknown as Tensor;
  }

  #readState(state: NativeState): Float32Array {
    const values = new Float32Array(state.length * state.width);
    this.addon.stateRead(this.#engine, state.id, 0, state.length, bytesOf(values));
    return values;
  }

  // --- arithmetic -----------------------------------------------------------------------------

  embed(...[table, ids, out, { scale, offset, add }]: Parameters<Ops['embed']>): void {
    this.#list.push('embed', [matrixOf(table).id, ...view(ids), ...view(out), scale, offset, Number(add)]);
  }

  linear(...[x, weight, out, { bias }]: Parameters<Ops['linear']>): void {
    this.#list.push('linear', [...view(x), matrixOf(weight).id, ...view(out), vectorId(bias)]);
  }

  rmsNorm(x: Tensor, out: Tensor, options: NormOptions): void {
    this.#list.push('rmsNorm', [...view(x), ...view(out), ...normArguments(options)]);
  }

  layerNorm(x: Tensor, out: Tensor, options: NormOptions & { bias: Vector | null }): void {
    this.#list.push('layerNorm', [...view(x), ...view(out), ...normArguments(options), vectorId(options.bias)]);
  }

  activate(x: Tensor, out: Tensor, f: ActivationName): void {
    this.#list.push('activate', [...view(x), ...view(out), code(f)]);
  }

  gated(gate: Tensor, x: Tensor, out: Tensor, f: ActivationName): void {
    this.#list.push('gated', [...view(gate), ...view(x), ...view(out), code(f)]);
  }

  xielu(...[x, out, { alphaP, alphaN, beta, eps }]: Parameters<Ops['xielu']>): void {
    this.#list.push('xielu', [...view(x), ...view(out), alphaP, alphaN, beta, eps]);
  }

  add(...[x, out, { keep, scale }]: Parameters<Ops['add']>): void {
    this.#list.push('add', [...view(x), ...view(out), keep, scale]);
  }

  multiply(x: Tensor, y: Tensor, out: Tensor): void {
    this.#list.push('multiply', [...view(x), ...view(y), ...view(out)]);
  }

  scaleGroups(...[x, factors, out, { size }]: Parameters<Ops['scaleGroups']>): void {
    this.#list.push('scaleGroups', [...view(x), ...view(factors), ...view(out), size]);
  }

  affine(...[x, out, { scale, bias }]: Parameters<Ops['affine']>): void {
    this.#list.push('affine', [...view(x), ...view(out), vectorId(scale), vectorId(bias)]);
  }

  scale(x: Tensor, out: Tensor, scale: number): void {
    this.#list.push('scale', [...view(x), ...view(out), scale]);
  }

  clamp(...[x, out, { low, high }]: Parameters<Ops['clamp']>): void {
    this.#list.push('clamp', [...view(x), ...view(out), low ?? -Infinity, high ?? Infinity]);
  }

  softcap(x: Tensor, out: Tensor, cap: number): void {
    this.#list.push('softcap', [...view(x), ...view(out), cap]);
  }

  copy(x: Tensor, out: Tensor): void {
    this.#list.push('copy', [...view(x), ...view(out)]);
  }

  rope(...[x, { cos, sin, dims }, options]: Parameters<Ops['rope']>): void {
    const { heads, headDim, from, layout, inverse } = options;
    const turn = [dims, heads, headDim, from, Number(layout === 'interleaved'), Number(inverse)];
    this.#list.push('rope', [...view(x), ...view(cos), ...view(sin), ...turn]);
  }

  attend(q: Tensor, out: Tensor, options: AttendOptions): void {
    const { segments, heads, kvHeads, keyDim, valueDim, scale, window, chunk, softcap, sinks, slopes } = options;
    const shape = [heads, kvHeads, keyDim, valueDim, scale, window ?? 0, chunk ?? 0, softcap ?? 0];
    const rows = segments.flatMap(({ start, length, position, keys, values }) => [
      start,
      length,
      position,
      stateOf(keys).id,
      stateOf(values).id,
    ]);
    const vectors = [vectorId(sinks), vectorId(slopes)];
    this.#list.push('attend', [...view(q), ...view(out), ...shape, ...vectors, segments.length, ...rows]);
  }

  // --- routers and experts --------------------------------------------------------------------

  softmax(x: Tensor, out: Tensor): void {
    this.#list.push('softmax', [...view(x), ...view(out)]);
  }

  keepGroups(...[x, out, { groups, keep, by, masked }]: Parameters<Ops['keepGroups']>): void {
    this.#list.push('keepGroups', [...view(x), ...view(out), groups, keep, Number(by === 'sum2'), masked]);
  }

  topK(x: Tensor, ids: Tensor): void {
    this.#list.push('topK', [...view(x), ...view(ids)]);
  }

  gather(x: Tensor, ids: Tensor, out: Tensor): void {
    this.#list.push('gather', [...view(x), ...view(ids), ...view(out)]);
  }

  normaliseRows(...[x, out, { eps, floor }]: Parameters<Ops['normaliseRows']>): void {
    this.#list.push('normaliseRows', [...view(x), ...view(out), eps, floor]);
  }

  expertLinear(...[x, weight, out, { ids, bias }]: Parameters<Ops['expertLinear']>): void {
    this.#list.push('expertLinear', [...view(x), stackOf(weight).id, ...view(out), ...view(ids), vectorId(bias)]);
  }

  combine(...[x, weights, out, { keep }]: Parameters<Ops['combine']>): void {
    this.#list.push('combine', [...view(x), ...view(weights), ...view(out), keep]);
  }

  headLinear(x: Tensor, weight: MatrixStack, out: Tensor): void {
    this.#list.push('headLinear', [...view(x), stackOf(weight).id, ...view(out)]);
  }

  // --- recurrent mixers -----------------------------------------------------------------------

  causalConv(...[x, out, { segments, weight, bias, kernel }]: Parameters<Ops['causalConv']>): void {
    const rows = fixedSegments(segments);
    this.#list.push('causalConv', [...view(x), ...view(out), vectorId(weight), vectorId(bias), kernel, ...rows]);
  }

  l2Norm(...[x, out, { size, eps }]: Parameters<Ops['l2Norm']>): void {
    this.#list.push('l2Norm', [...view(x), ...view(out), size, eps]);
  }

  deltaRule(...[{ q, k, v, decay, beta }, out, options]: Parameters<Ops['deltaRule']>): void {
    const { segments, keyHeads, valueHeads, keyDim, valueDim } = options;
    const inputs = [q, k, v, decay, beta, out].flatMap(view);
    this.#list.push('deltaRule', [...inputs, keyHeads, valueHeads, keyDim, valueDim, ...fixedSegments(segments)]);
  }

  dispose(): void {
    this.#f32 = new Float32Array();
    this.#i32 = new Int32Array();
    this.addon.dispose(this.#engine);
  }
}

const normArguments = ({ size, eps, offset, weight }: NormOptions): readonly number[] => {
  const own = weight !== null && vectorOf(weight).length !== size;
  return [size, eps, offset, vectorId(weight), Number(own)];
};

const fixedSegments = (segments: readonly RecurrentSegment[]): readonly number[] => [
  segments.length,
  ...segments.flatMap(({ start, length, state }) => [start, length, stateOf(state).id]),
];

const bytesOf = (data: Float32Array | Int32Array): Uint8Array =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
