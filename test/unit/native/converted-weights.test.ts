/** Weights in another precision than the stored one are made in pieces, by the addon: as the reference makes each value. */
import { bf16ToF32, f16ToF32, f32ToBf16, f32ToF16, type WeightData } from '@kvad/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createEngine, KINDS, loadAddon, type NativeEngine } from '../../../core/dist/kernels/native/addon.js';
import { nativeMatrix, packed } from '../../../core/dist/kernels/native/weights.js';

const addon = loadAddon()!;

const engineOf = (): NativeEngine => {
  const engine = createEngine(addon, { threads: 2, arenaBytes: 2 ** 20 });
  onTestFinished(() => {
    addon.dispose(engine);
  });
  return engine;
};

const halves =
  (read: (bits: number) => number) =>
  (bytes: Uint8Array): Float32Array =>
    Float32Array.from(new Uint16Array(bytes.slice().buffer), read);

/** Every sign and exponent, with fractions at and beside the middle between two 16-bit floats. */
const FRACTIONS = [0, 1, 0xfff, 0x1000, 0x1001, 0x3000, 0x7fff, 0x8000, 0x8001, 0x18000, 0x7fe000, 0x7fefff, 0x7ff000];
const FLOATS = new Float32Array(
  Uint32Array.from({ length: 512 * 16 }, (_, i) => ((i >>> 4) << 23) | (FRACTIONS[i & 15] ?? 0x7fffff)).buffer,
);
const HALVES = Uint16Array.from({ length: 2 ** 16 }, (_, bits) => bits);

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array | Uint16Array): Uint8Array =>
  new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);

const widened = {
  F32: { values: FLOATS, read: (value: number): number => value },
  F16: { values: HALVES, read: f16ToF32 },
  BF16: { values: HALVES, read: bf16ToF32 },
};
/** How the reference rounds, and the values of what was made. */
const narrowed = {
  f32: { round: (value: number): number => value, read: (bytes: Uint8Array) => new Float32Array(bytes.slice().buffer) },
  f16: { round: (value: number): number => f16ToF32(f32ToF16(value)), read: halves(f16ToF32) },
  bf16: { round: (value: number): number => bf16ToF32(f32ToBf16(value)), read: halves(bf16ToF32) },
};

/** More than one piece of 8 MiB, with rows that do not divide one. */
const ROWS = 3001;
const COLS = 900;

describe.runIf(loadAddon() !== null)('the addon', () => {
  it.each([
    ['F32', 'f16'],
    ['F32', 'bf16'],
    ['F16', 'f32'],
    ['F16', 'bf16'],
    ['BF16', 'f32'],
    ['BF16', 'f16'],
  ] as const)('converts %s to %s as the reference does, from any address', (dtype, precision) => {
    const { values, read } = widened[dtype];
    const bytes = bytesOf(values);
    const shifted = new Uint8Array(bytes.length + 1);
    shifted.set(bytes, 1);
    const data: WeightData = { dtype, shape: [values.length / 64, 64], bytes: shifted.subarray(1) };
    const made = narrowed[precision].read(nativeMatrix(addon, engineOf(), data, precision).bytes);
    // A NaN is one whatever its bits are.
    expect(made).toEqual(Float32Array.from(values, (value) => narrowed[precision].round(read(value))));
  });

  it('converts all of a matrix that is larger than a piece', () => {
    const stored = Uint16Array.from({ length: ROWS * COLS * 2 }, (_, i) => (i * 2654435761) >>> 17);
    const data: WeightData = { dtype: 'BF16', shape: [ROWS * 2, COLS], bytes: bytesOf(stored) };
    expect(data.bytes.length).toBeGreaterThan(2 ** 23);
    const bits = new Uint32Array(nativeMatrix(addon, engineOf(), data, 'f32').bytes.slice().buffer);
    expect(bits.length).toBe(stored.length);
    expect(bits.findIndex((value, i) => value !== (stored[i]! << 16) >>> 0)).toBe(-1);
  });

  it.each(['q8', 'q4'] as const)('quantises pieces of a stack to the %s bytes of the whole', (precision) => {
    const engine = engineOf();
    const values = Float32Array.from({ length: 2 * ROWS * COLS }, (_, i) => Math.sin(i * 12.9898) * ((i % 7) + 1));
    const data: WeightData = { dtype: 'F32', shape: [2, ROWS, COLS], bytes: bytesOf(values) };
    const each = addon.quantBytes(KINDS[precision], ROWS, COLS);
    const whole = new Uint8Array(2 * each);
    for (const i of [0, 1]) {
      const from = data.bytes.subarray((i * data.bytes.length) / 2, ((i + 1) * data.bytes.length) / 2);
      expect(from.length).toBeGreaterThan(2 ** 23);
      addon.quantise(engine, from, KINDS.f32, ROWS, COLS, KINDS[precision], whole.subarray(i * each, (i + 1) * each));
    }
    expect(Buffer.compare(packed(addon, engine, data, precision).bytes, whole)).toBe(0);
  });

  it('counts the blocks of all pieces that cannot be quantised', () => {
    const values = new Float32Array(ROWS * COLS).fill(1);
    values[0] = values[values.length - 1] = NaN;
    const data: WeightData = { dtype: 'F32', shape: [ROWS, COLS], bytes: bytesOf(values) };
    expect(() => packed(addon, engineOf(), data, 'q8')).toThrow(
      expect.objectContaining({ code: 'KVAD_E_QUANT_RANGE', params: expect.objectContaining({ blocks: 2 }) as object }),
    );
  });

  it.each([
    ['a quantised kind', [new Uint8Array(64), 3, 0, new Uint8Array(64)]],
    ['half a value', [new Uint8Array(63), 1, 0, new Uint8Array(126)]],
    ['an output that is too small', [new Uint8Array(64), 1, 0, new Uint8Array(127)]],
  ] as const)('refuses to convert %s', (_, args) => {
    expect(() => {
      addon.convert(engineOf(), ...(args as unknown as [Uint8Array, number, number, Uint8Array]));
    }).toThrow(TypeError);
  });
});
