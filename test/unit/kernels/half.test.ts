import { describe, expect, it } from 'vitest';
import { bf16ToF32, decodeFloats, f16ToF32, f32ToBf16, f32ToF16, roundToBf16, roundToF16 } from '@kvad/core';
import { expectClose } from './numbers.js';

const ALL = Array.from({ length: 65536 }, (_, bits) => bits);
const nextFloat = (value: number, step: 1 | -1): number => {
  const word = new Float32Array([value]);
  new Int32Array(word.buffer)[0]! += value >= 0 ? step : -step;
  return word[0]!;
};

const FORMATS = [
  { name: 'f16', widen: f16ToF32, narrow: f32ToF16, infinity: 0x7c00, largest: 65504, smallest: 2 ** -24 },
  {
    name: 'bf16',
    widen: bf16ToF32,
    narrow: f32ToBf16,
    infinity: 0x7f80,
    largest: 3.3895313892515355e38,
    smallest: 2 ** -133,
  },
] as const;

describe.each(FORMATS)('$name', ({ widen, narrow, infinity, largest, smallest }) => {
  it('widens every value and narrows it back to the same bits', () => {
    for (const bits of ALL) {
      const value = widen(bits);
      const back = narrow(value);
      const kept = (bits & 0x7fff) > infinity ? Number.isNaN(value) && Number.isNaN(widen(back)) : back === bits;
      if (!kept || !Object.is(value, Math.fround(value))) throw new Error(`bits ${bits}: ${value}, back to ${back}`);
    }
  });

  it('has the values of its definition at the ends', () => {
    expect(widen(0)).toBe(0);
    expect(widen(0x8000)).toBe(-0);
    expect(widen(1)).toBe(smallest);
    expect(widen(infinity)).toBe(Infinity);
    expect(widen(infinity | 0x8000)).toBe(-Infinity);
    expect(widen(infinity - 1)).toBe(largest);
  });

  it('grows with its bits', () => {
    for (let bits = 0; bits < infinity; bits++) {
      if (!(widen(bits + 1) > widen(bits))) throw new Error(`bits ${bits + 1} is not above ${bits}`);
    }
  });

  it('rounds to the nearest of two neighbours, and to the even one between them', () => {
    for (let low = 0; low < infinity; low++) {
      const high = low + 1;
      // The middle between the largest value and what would come next decides what becomes infinity.
      const middle =
        high === infinity ? 2 * widen(low) - (widen(low) + widen(low - 1)) / 2 : (widen(low) + widen(high)) / 2;
      const even = low % 2 === 0 ? low : high;
      for (const sign of [1, -1] as const) {
        const bit = sign < 0 ? 0x8000 : 0;
        const found = [
          narrow(sign * middle),
          narrow(sign * nextFloat(middle, -1)),
          narrow(sign * nextFloat(middle, 1)),
        ];
        if (found[0] !== (bit | even) || found[1] !== (bit | low) || found[2] !== (bit | high)) {
          throw new Error(`around ${sign * middle}: ${found.join(', ')}; neighbours ${low} and ${high}`);
        }
      }
    }
  });

  it('takes every NaN to a NaN and infinity to infinity', () => {
    expect(widen(narrow(NaN))).toBeNaN();
    expect(narrow(Infinity)).toBe(infinity);
    expect(narrow(-Infinity)).toBe(infinity | 0x8000);
    const payload = new Float32Array(new Uint32Array([0x7f800001]).buffer)[0]!;
    expect(widen(narrow(payload))).toBeNaN();
  });
});

describe('float16 values of the IEEE 754 examples', () => {
  it.each([
    [0x3c00, 1],
    [0x3555, 0.333251953125],
    [0xc000, -2],
    [0x0400, 6.103515625e-5],
    [0x03ff, 6.097555160522461e-5],
    [0x7bff, 65504],
  ])('bits %i are %f', (bits, value) => {
    expect(f16ToF32(bits)).toBe(value);
    expect(roundToF16(value)).toBe(value);
  });

  it('rounds values as they are held', () => {
    expect(roundToF16(65519)).toBe(65504);
    expect(roundToF16(65520)).toBe(Infinity);
    expect(roundToBf16(-1e-6)).toBe(-9.98377799987793e-7);
  });
});

describe('decodeFloats', () => {
  const halves = new Uint16Array(ALL);
  const bytes = new Uint8Array(halves.buffer);
  const shifted = new Uint8Array(bytes.length + 1);
  shifted.set(bytes, 1);

  it.each([
    ['F16', f16ToF32],
    ['BF16', bf16ToF32],
  ] as const)('widens all %s values, from any byte offset', (dtype, widen) => {
    const expected = Float32Array.from(ALL, widen);
    expectClose(decodeFloats(bytes, dtype), expected, 0);
    expectClose(decodeFloats(shifted.subarray(1), dtype), expected, 0);
  });

  it('keeps aligned F32 where it is, and copies what is not', () => {
    const floats = Float32Array.of(1.5, -2.25);
    expect(decodeFloats(new Uint8Array(floats.buffer), 'F32').buffer).toBe(floats.buffer);
    const off = new Uint8Array(9);
    off.set(new Uint8Array(floats.buffer), 1);
    expect(decodeFloats(off.subarray(1), 'F32')).toEqual(floats);
  });

  it('refuses half an element', () => {
    expect(() => decodeFloats(new Uint8Array(3), 'F16')).toThrow('3 bytes');
  });
});
