import { decodeFloats } from '../half.js';
import type { Ops } from '../ops.js';
import type { Matrix, MatrixStack, Vector } from '../tensor.js';
import { createEngine, loadAddon, type Addon } from './addon.js';
import { arithmeticOps } from './arithmetic.js';
import { CommandList } from './commands.js';
import { NativeVector, type NativeMatrix } from './handles.js';
import { NativeScratch } from './scratch.js';
import { stateOps } from './states.js';
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

/**
 * The native arithmetic. Calls are recorded; `host` and whatever touches memory directly run the list first. Null where
 * the addon is not there.
 */
export const createNativeOps = (options: NativeOptions): Ops | null => {
  const addon = loadAddon();
  return addon && nativeOps(addon, options);
};

const nativeOps = (addon: Addon, { threads, kernels, dequantise, kvCacheDtype }: NativeOptions): Ops => {
  const engine = createEngine(addon, { threads, kernels: kernels ?? '', arenaBytes: ARENA_BYTES, dequantise });
  const list = new CommandList(addon, engine);
  const scratch = new NativeScratch(list, ARENA_BYTES);
  return {
    name: addon.kernels(engine),
    threads,
    ...scratchOps(scratch),
    ...weightOps(list),
    ...stateOps(list, kvCacheDtype === 'f16'),
    ...arithmeticOps(list),
    dispose: () => {
      scratch.dispose();
      addon.dispose(engine);
    },
  };
};

const scratchOps = (scratch: NativeScratch) => ({
  tensor: scratch.tensor.bind(scratch),
  mark: scratch.mark.bind(scratch),
  release: scratch.release.bind(scratch),
  columns: scratch.columns.bind(scratch),
  rows: scratch.rows.bind(scratch),
  reshape: scratch.reshape.bind(scratch),
  upload: scratch.upload.bind(scratch),
  host: scratch.host.bind(scratch),
  write: scratch.write.bind(scratch),
});

type WeightOps = Pick<Ops, 'matrix' | 'stack' | 'pack' | 'quantLayout' | 'vector' | 'constant'>;

const weightOps = ({ addon, engine }: CommandList): WeightOps => {
  const constant = (values: Float32Array): Vector =>
    new NativeVector(addon.vector(engine, values), values.length) as unknown as Vector;
  // The engine reads these bytes for as long as it lives, whoever still holds the handle.
  const held: Uint8Array[] = [];
  const matrix = (...[data, precision]: Parameters<Ops['matrix']>): NativeMatrix => {
    const made = nativeMatrix(addon, engine, data, precision);
    held.push(made.bytes);
    return made;
  };
  return {
    matrix: (data, precision) => matrix(data, precision) as unknown as Matrix,
    stack: (data, precision) => matrix(data, precision) as unknown as MatrixStack,
    pack: (data, precision) => packed(addon, engine, data, precision),
    quantLayout: addon.layoutVersion,
    vector: ({ dtype, bytes }) => {
      if (dtype !== 'F32' && dtype !== 'F16' && dtype !== 'BF16') throw new Error(`a vector of ${dtype}`);
      return constant(Float32Array.from(decodeFloats(bytes, dtype)));
    },
    constant,
  };
};
