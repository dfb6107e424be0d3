import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newOps, numbers, windowed, hostFloats } from './numbers.js';

describe('scratch memory', () => {
  it('gives memory back in one step, and reuses it', () => {
    const ops = newOps();
    const kept = ops.upload(Float32Array.of(1, 2, 3), 1, 3);
    const mark = ops.mark();
    const first = ops.tensor(4, 8);
    ops.write(first, numbers(1, 32));
    ops.release(mark);
    const second = ops.tensor(4, 8);
    ops.write(second, numbers(2, 32));
    expect(ops.host(second)).toEqual(numbers(2, 32));
    expect(ops.host(kept)).toEqual(Float32Array.of(1, 2, 3));
  });

  it('refuses a tensor and its views after release', () => {
    const ops = newOps();
    const mark = ops.mark();
    const x = ops.tensor(2, 4);
    const view = ops.columns(x, 1, 2);
    ops.release(mark);
    ops.tensor(2, 4);
    expect(() => ops.host(x)).toThrow('after its memory was released');
    expect(() => ops.host(view)).toThrow('after its memory was released');
    expect(() => ops.rows(x, 0, 1)).toThrow('after its memory was released');
  });

  it('refuses a mark that is above the memory in use', () => {
    const ops = newOps();
    ops.tensor(1, 1);
    const mark = ops.mark();
    ops.release(0);
    expect(() => ops.release(mark)).toThrow('released before');
  });

  it('is NaN until it is written', () => {
    const ops = newOps();
    const mark = ops.mark();
    ops.write(ops.tensor(1, 3), Float32Array.of(1, 2, 3));
    ops.release(mark);
    expect(ops.host(ops.tensor(1, 3))).toEqual(Float32Array.of(NaN, NaN, NaN));
  });

  it('keeps all values through any order of taking and releasing, over many chunks', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -3, max: 300_000 }), { maxLength: 40 }), (steps) => {
        const ops = newOps();
        const held: { mark: number; size: number; value: number; host: () => ArrayLike<number> }[] = [];
        steps.forEach((step, value) => {
          if (step < 0) {
            const freed = held.splice(step);
            if (freed[0] !== undefined) ops.release(freed[0].mark);
            return;
          }
          const mark = ops.mark();
          const x = ops.tensor(1, step);
          ops.write(x, new Float32Array(step).fill(value));
          held.push({ mark, size: step, value, host: () => ops.host(x) });
        });
        for (const { size, value, host } of held) {
          const values = host();
          expect(values.length).toBe(size);
          if (size > 0) expect([values[0], values[size - 1]]).toEqual([value, value]);
        }
        ops.dispose();
      }),
      { numRuns: 25 },
    );
  });

  it('refuses shapes that are none', () => {
    const ops = newOps();
    expect(() => ops.tensor(-1, 2)).toThrow('[-1, 2]');
    expect(() => ops.tensor(1, 2.5)).toThrow('[1, 2.5]');
  });

  it('is dead after dispose', () => {
    const ops = newOps();
    const x = ops.tensor(1, 1);
    ops.dispose();
    expect(() => ops.host(x)).toThrow('after its memory was released');
  });
});

describe('views', () => {
  it('share memory with the tensor that they look into', () => {
    const ops = newOps();
    const x = ops.upload(numbers(3, 20), 4, 5);
    const view = ops.columns(ops.rows(x, 1, 2), 2, 3);
    expect([view.rows, view.cols]).toEqual([2, 3]);
    ops.write(view, Float32Array.of(10, 11, 12, 20, 21, 22));
    const expected = numbers(3, 20);
    expected.set([10, 11, 12], 7);
    expected.set([20, 21, 22], 12);
    expect(ops.host(x)).toEqual(expected);
    expect(ops.host(view)).toEqual(Float32Array.of(10, 11, 12, 20, 21, 22));
  });

  it('of a view count from the view', () => {
    const ops = newOps();
    const x = ops.upload(
      Int32Array.from({ length: 24 }, (_, i) => i),
      4,
      6,
    );
    const inner = ops.rows(ops.columns(ops.columns(x, 1, 4), 2, 2), 2, 1);
    expect(inner.dtype).toBe('i32');
    expect(ops.host(inner)).toEqual(Int32Array.of(15, 16));
  });

  it.each([
    ['columns', -1, 2],
    ['columns', 3, 2],
    ['columns', 0.5, 1],
    ['rows', 2, 2],
  ] as const)('%s [%d, +%d) outside is refused', (op, start, count) => {
    const ops = newOps();
    const x = ops.tensor(3, 4);
    expect(() => ops[op](x, start, count)).toThrow('does not lie within');
  });

  it('of nothing is a tensor too, even the first one', () => {
    const ops = newOps();
    expect(ops.host(ops.tensor(0, 3))).toEqual(new Float32Array(0));
  });

  it('may be empty', () => {
    const ops = newOps();
    expect(ops.host(ops.rows(ops.tensor(3, 4), 3, 0))).toEqual(new Float32Array(0));
  });
});

describe('the way in and out', () => {
  it('upload copies', () => {
    const ops = newOps();
    const data = Float32Array.of(1, 2);
    const x = ops.upload(data, 1, 2);
    data[0] = 9;
    expect(ops.host(x)).toEqual(Float32Array.of(1, 2));
  });

  it('write refuses other types and counts', () => {
    const ops = newOps();
    const x = ops.tensor(2, 2);
    expect(() => ops.write(x, new Int32Array(4))).toThrow('i32 values for a tensor of f32');
    expect(() => ops.write(x, new Float32Array(3))).toThrow('x [2, 2], values 3');
  });

  it('copy moves bits of either type between windows', () => {
    const ops = newOps();
    const x = windowed(ops, Float32Array.of(1, NaN, -0, Infinity, 5, 6), 2, 3);
    const out = windowed(ops, new Float32Array(6), 2, 3);
    ops.copy(x, out);
    expect(hostFloats(ops, out)).toEqual(Float32Array.of(1, NaN, -0, Infinity, 5, 6));
    const ids = ops.upload(Int32Array.of(-1, 2 ** 31 - 1), 2, 1);
    const idsOut = ops.tensor(2, 1, 'i32');
    ops.copy(ids, idsOut);
    expect(ops.host(idsOut)).toEqual(Int32Array.of(-1, 2 ** 31 - 1));
    expect(() => ops.copy(ids, ops.tensor(2, 1))).toThrow('must be alike');
  });

  it('handles of other ops are refused', () => {
    const ops = newOps();
    expect(() => ops.host({ rows: 1, cols: 1, dtype: 'f32' } as never)).toThrow('a tensor of other ops');
  });
});
