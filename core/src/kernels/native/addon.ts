import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { KvadError } from '../../errors/kvad-error.js';

declare const engine: unique symbol;
/** An engine of the addon: scratch, weights, states and threads of one model. */
export interface NativeEngine {
  readonly [engine]: true;
}

/** Kinds of stored matrices, as `core/native/src/format.h` numbers them. */
export const KINDS = { f32: 0, f16: 1, bf16: 2, q8: 3, q4: 4 } as const;

/** The functions of the addon; each refuses wrong arguments with a TypeError. */
export interface Addon {
  /** Kernel sets that this machine runs, best first, separated by commas. */
  readonly available: string;
  /** Those that do not compute what the portable ones do on this machine, and are therefore not used. */
  readonly distrusted: string;
  readonly opcodes: string;
  readonly layoutVersion: number;
  /** `createEngine` below says what is refused. */
  create(threads: number, kernels: string, arenaBytes: number, dequantise: number): NativeEngine;
  dispose(engine: NativeEngine): void;
  /** The first `bytes` of the scratch memory. */
  arena(engine: NativeEngine, bytes: number): ArrayBuffer;
  kernels(engine: NativeEngine): string;
  /** The bytes are not copied: they must outlive the engine. */
  weight(engine: NativeEngine, bytes: Uint8Array, kind: number, count: number, rows: number, cols: number): number;
  quantBytes(kind: number, rows: number, cols: number): number;
  /** Fills `out`; returns how many blocks have a scale that f16 does not hold, or values that are no numbers. */
  quantise(
    engine: NativeEngine,
    bytes: Uint8Array,
    from: number,
    rows: number,
    cols: number,
    to: number,
    out: Uint8Array,
  ): number;
  /** Floats of kind `from` in the float type `to`, rounded to nearest even, into `out`. */
  convert(engine: NativeEngine, bytes: Uint8Array, from: number, to: number, out: Uint8Array): void;
  vector(engine: NativeEngine, values: Float32Array): number;
  state(engine: NativeEngine, width: number, half: number, init: number): number;
  /** Returns the bytes held then. */
  stateReserve(engine: NativeEngine, state: number, rows: number): number;
  stateFree(engine: NativeEngine, state: number): void;
  stateRead(engine: NativeEngine, state: number, first: number, rows: number, out: Uint8Array): void;
  stateWrite(engine: NativeEngine, state: number, first: number, rows: number, bytes: Uint8Array): void;
  /** Runs commands while the caller goes on, after those started before. They are copied. */
  start(engine: NativeEngine, commands: Float64Array, count: number): void;
  /** Waits for them, and throws what was wrong with one. All other functions wait too. */
  finish(engine: NativeEngine): void;
  /** Seconds that the engine's threads take to read these bytes once. */
  readSeconds(engine: NativeEngine, bytes: Uint8Array): number;
  /**
   * Bytes of an open file as read-only memory, not copied; unmapped when nobody holds it. `path` is for messages; `shrank`
   * is written to stderr when the process ends because the file has become shorter, with its size in place of `LATER`.
   */
  map(path: string, descriptor: number, offset: number, bytes: number, shrank: string): ArrayBuffer;
  /** Bytes of a mapped file are taken out of the process's memory until they are read again; others stay. */
  leave(bytes: Uint8Array): void;
  /**
   * Where the JSON value ends that begins at `at`, and a whole number that stands in it twice, or -1; `ids` 0: numbers are
   * not looked at. The rules are those of `core/src/text/tokenizer/outline.ts`.
   */
  passValue(bytes: Uint8Array, at: number, ids: number): [end: number, sharedId: number];
  /**
   * A file in memory with the bytes of a tokenizer.json whose list of merges, from the bracket at `at` to behind the one
   * at `end - 1`, is written "a b" and not as pairs: its descriptor, for `close`. -1 where that would be another
   * list, or the system has no such files.
   */
  joinMerges(bytes: Uint8Array, at: number, end: number): number;
  /** Closes a descriptor of `joinMerges`: in a worker, Node's own function warns of those that it has not opened. */
  close(descriptor: number): void;
  /**
   * Gives memory that was freed back to the system, where its allocator keeps some. Returns the bytes that the process has
   * allocated and not freed, V8's heaps not among them, or -1 where that is not known.
   */
  trim(): number;
}

/** Commands in the order of `core/native/src/opcodes.h`. */
export const OPCODES = [
  'embed',
  'linear',
  'rmsNorm',
  'layerNorm',
  'activate',
  'gated',
  'xielu',
  'add',
  'multiply',
  'scaleGroups',
  'affine',
  'scale',
  'clamp',
  'softcap',
  'copy',
  'rope',
  'append',
  'attend',
  'softmax',
  'keepGroups',
  'topK',
  'gather',
  'normaliseRows',
  'expertLinear',
  'combine',
  'headLinear',
  'causalConv',
  'l2Norm',
  'deltaRule',
] as const;
export type Opcode = (typeof OPCODES)[number];

/** Where the build script puts it. */
const BUILT = fileURLToPath(new URL('../../../native/build/kvad.node', import.meta.url));

/** Functions that a build from earlier sources does not have. */
const NEWEST = ['leave', 'trim', 'passValue', 'joinMerges', 'close', 'convert'] as const;

let loaded: Addon | null | undefined;

/** The addon, or null where it was not built (no compiler) or was built from other sources than these. */
export const loadAddon = (): Addon | null => {
  if (loaded !== undefined) return loaded;
  loaded = null;
  if (existsSync(BUILT)) {
    const addon = createRequire(import.meta.url)(BUILT) as Addon;
    const isOurs = addon.opcodes === OPCODES.map((name) => `${name},`).join('');
    if (isOurs && NEWEST.every((name) => name in addon)) loaded = addon;
  }
  return loaded;
};

/**
 * `kernels` empty: the best. `dequantise`: activations of quantised products stay f32. Throws KVAD_E_OPTION where the
 * system does not let this process start so many threads.
 */
export const createEngine = (
  addon: Addon,
  { threads, kernels = '', arenaBytes, dequantise = false }: EngineOptions,
): NativeEngine => {
  try {
    return addon.create(threads, kernels, arenaBytes, dequantise ? 1 : 0);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'THREADS') throw error;
    const expected = 'no more than this process may start (ulimit -u, or the limit of its container)';
    throw new KvadError('KVAD_E_OPTION', { option: '--threads', value: String(threads), expected }, { cause: error });
  }
};

interface EngineOptions {
  readonly threads: number;
  readonly kernels?: string;
  readonly arenaBytes: number;
  readonly dequantise?: boolean;
}
