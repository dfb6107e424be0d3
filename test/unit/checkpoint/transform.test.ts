import type { Transform } from '@kvad/core/plugin';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lazy, type LazyTensor } from '../../../core/dist/checkpoint/lazy-tensor.js';
import { applyTransforms, ShapeMisfit } from '../../../core/dist/checkpoint/transform.js';

/** A tensor whose element at each place is its number in row-major order, from `first`. */
const counted = (shape: readonly number[], first = 0): LazyTensor => {
  const data = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => first + i);
  return lazy('F32', shape, () => new Uint8Array(data.buffer));
};

const numbers = (tensor: LazyTensor): number[] => [...new Float32Array(tensor.bytes().slice().buffer)];

const apply = (tensor: LazyTensor, ...transforms: Transform[]): LazyTensor => applyTransforms([[tensor]], transforms);

describe('one transform', () => {
  const cases: readonly (readonly [Transform, shape: number[], result: number[], values: number[]])[] = [
    [{ op: 'transpose' }, [2, 3], [3, 2], [0, 3, 1, 4, 2, 5]],
    [{ op: 'transposeLast' }, [2, 2, 3], [2, 3, 2], [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11]],
    [{ op: 'rows', start: 1, count: 2 }, [4, 2], [2, 2], [2, 3, 4, 5]],
    [{ op: 'rows', start: 1, count: 1 }, [3], [1], [1]],
    [{ op: 'perGroup', groups: 2, size: 3, start: 1, count: 1 }, [6, 2], [2, 2], [2, 3, 8, 9]],
    [{ op: 'perGroup', groups: 2, size: 3, start: 1, count: 2 }, [6], [4], [1, 2, 4, 5]],
    [{ op: 'perGroup', groups: 2, size: 2, start: 0, count: 2 }, [4], [4], [0, 1, 2, 3]],
    [{ op: 'squeeze' }, [2, 1, 3, 1], [2, 3], [0, 1, 2, 3, 4, 5]],
    [{ op: 'squeeze', axis: 1 }, [2, 1, 1], [2, 1], [0, 1]],
    [{ op: 'reshape', shape: [3, 2] }, [2, 3], [3, 2], [0, 1, 2, 3, 4, 5]],
    [{ op: 'reshape', shape: [] }, [1], [], [0]],
    [{ op: 'split', axis: 0, part: 'gate', layout: 'halves' }, [4, 1], [2, 1], [0, 1]],
    [{ op: 'split', axis: 0, part: 'up', layout: 'halves' }, [4, 1], [2, 1], [2, 3]],
    [{ op: 'split', axis: 0, part: 'gate', layout: 'interleaved' }, [4, 1], [2, 1], [0, 2]],
    [{ op: 'split', axis: 0, part: 'up', layout: 'interleaved' }, [4, 1], [2, 1], [1, 3]],
    [{ op: 'split', axis: 1, part: 'up', layout: 'halves' }, [2, 4], [2, 2], [2, 3, 6, 7]],
    [{ op: 'split', axis: 1, part: 'gate', layout: 'interleaved' }, [2, 4], [2, 2], [0, 2, 4, 6]],
    [{ op: 'split', axis: 1, part: 'up', layout: 'interleaved' }, [1, 4, 2], [1, 2, 2], [2, 3, 6, 7]],
    [{ op: 'concat', axis: 0 }, [2, 1], [2, 1], [0, 1]],
  ];
  it.each(cases)('%j of %j', (transform, shape, result, values) => {
    const tensor = apply(counted(shape), transform);
    expect(tensor.shape).toEqual(result);
    expect(numbers(tensor)).toEqual(values);
  });

  const misfits: readonly (readonly [Transform, shape: number[]])[] = [
    [{ op: 'transpose' }, [2]],
    [{ op: 'transpose' }, [2, 2, 2]],
    [{ op: 'transposeLast' }, [2, 2]],
    [{ op: 'rows', start: 2, count: 3 }, [4]],
    [{ op: 'rows', start: 0, count: 1 }, []],
    [{ op: 'perGroup', groups: 2, size: 3, start: 0, count: 1 }, [7]],
    [{ op: 'perGroup', groups: 2, size: 3, start: 2, count: 2 }, [6]],
    [{ op: 'squeeze', axis: 0 }, [2, 1]],
    [{ op: 'squeeze', axis: 3 }, [2, 1]],
    [{ op: 'reshape', shape: [5] }, [2, 3]],
    [{ op: 'split', axis: 0, part: 'up', layout: 'halves' }, [3]],
    [{ op: 'split', axis: 1, part: 'up', layout: 'halves' }, [4]],
    [{ op: 'concat', axis: 1 }, [4]],
  ];
  it.each(misfits)('%j does not fit %j', (transform, shape) => {
    expect(() => apply(counted(shape), transform)).toThrow(ShapeMisfit);
  });
});

describe('several tensors', () => {
  const grid = (...rows: LazyTensor[][]): LazyTensor[][] => rows;

  it('stack to a new axis 0, in the order of the experts', () => {
    const tensor = applyTransforms(grid([counted([2, 1]), counted([2, 1], 10)]), [{ op: 'stack', count: 2 }]);
    expect(tensor.shape).toEqual([2, 2, 1]);
    expect(numbers(tensor)).toEqual([0, 1, 10, 11]);
  });

  it('join along each axis', () => {
    const pair = grid([counted([2, 2])], [counted([2, 2], 10)]);
    expect(numbers(applyTransforms(pair, [{ op: 'concat', axis: 0 }]))).toEqual([0, 1, 2, 3, 10, 11, 12, 13]);
    expect(numbers(applyTransforms(pair, [{ op: 'concat', axis: 1 }]))).toEqual([0, 1, 10, 11, 2, 3, 12, 13]);
    const uneven = applyTransforms(grid([counted([1, 1])], [counted([1, 2], 10)]), [{ op: 'concat', axis: 1 }]);
    expect([uneven.shape, numbers(uneven)]).toEqual([
      [1, 3],
      [0, 10, 11],
    ]);
  });

  it('transform one by one until they are stacked', () => {
    const tensor = applyTransforms(grid([counted([1, 2]), counted([1, 2], 10)]), [
      { op: 'transpose' },
      { op: 'stack', count: 2 },
      { op: 'transposeLast' },
    ]);
    expect([tensor.shape, numbers(tensor)]).toEqual([
      [2, 1, 2],
      [0, 1, 10, 11],
    ]);
  });

  it('join expert by expert where concat goes before stack', () => {
    const tensors = grid([counted([1, 1]), counted([1, 1], 1)], [counted([1, 1], 10), counted([1, 1], 11)]);
    const tensor = applyTransforms(tensors, [
      { op: 'concat', axis: 0 },
      { op: 'stack', count: 2 },
    ]);
    expect([tensor.shape, numbers(tensor)]).toEqual([
      [2, 2, 1],
      [0, 10, 1, 11],
    ]);
  });

  it('of different float types become F32, with the same values', () => {
    const half = lazy('F16', [1], () => Uint8Array.of(0, 0x3e));
    const brain = lazy('BF16', [1], () => Uint8Array.of(0x20, 0xc0));
    const tensor = applyTransforms(grid([half], [brain], [counted([1], 5)]), [{ op: 'concat', axis: 0 }]);
    expect([tensor.dtype, numbers(tensor)]).toEqual(['F32', [1.5, -2.5, 5]]);
    const integers = lazy('I64', [1], () => new Uint8Array(8));
    expect(() => applyTransforms(grid([integers], [half]), [{ op: 'concat', axis: 0 }])).toThrow(ShapeMisfit);
  });

  it('do not fit where shapes differ, or where more than one is left', () => {
    const uneven = [counted([2, 1]), counted([1, 2])];
    expect(() => applyTransforms(grid(uneven), [{ op: 'stack', count: 2 }])).toThrow(ShapeMisfit);
    expect(() => applyTransforms(grid([uneven[0]!], [uneven[1]!]), [{ op: 'concat', axis: 0 }])).toThrow(ShapeMisfit);
    expect(() => applyTransforms(grid(uneven), [])).toThrow(/2 tensors are left/);
  });
});

describe('memory', () => {
  const data = new Uint8Array(4 * 12);
  const stored = lazy('F32', [6, 2], () => data);

  it.each<Transform>([
    { op: 'rows', start: 2, count: 3 },
    { op: 'perGroup', groups: 1, size: 6, start: 2, count: 3 },
    { op: 'split', axis: 0, part: 'up', layout: 'halves' },
    { op: 'reshape', shape: [12] },
    { op: 'squeeze' },
    { op: 'concat', axis: 0 },
  ])('%j is a view of the file', (transform) => {
    expect(apply(stored, transform).bytes().buffer).toBe(data.buffer);
  });

  it('no transform writes into the file, nor needs it aligned', () => {
    const shifted = new Uint8Array(1 + 4 * 6);
    shifted.set(new Uint8Array(Float32Array.of(0, 1, 2, 3, 4, 5).buffer), 1);
    const before = shifted.slice();
    const transposed = apply(
      lazy('F32', [2, 3], () => shifted.subarray(1)),
      { op: 'transpose' },
    );
    expect(numbers(transposed)).toEqual([0, 3, 1, 4, 2, 5]);
    expect(shifted).toEqual(before);
  });

  it.each([
    ['F16', 2],
    ['BF16', 2],
    ['F32', 4],
    ['I32', 4],
    ['I64', 8],
  ] as const)('%s elements move whole', (dtype, size) => {
    const bytes = Uint8Array.from({ length: 6 * size }, (_, i) => i);
    const moved = apply(
      lazy(dtype, [2, 3], () => bytes),
      { op: 'transpose' },
    ).bytes();
    const order = [0, 3, 1, 4, 2, 5];
    expect([...moved]).toEqual(order.flatMap((i) => [...bytes.subarray(i * size, (i + 1) * size)]));
  });
});

describe('properties', () => {
  const size = fc.integer({ min: 1, max: 5 });

  it('transposing twice is nothing', () => {
    fc.assert(
      fc.property(size, size, size, (a, b, c) => {
        const tensor = counted([a, b, c]);
        const twice = apply(tensor, { op: 'transposeLast' }, { op: 'transposeLast' });
        expect([twice.shape, numbers(twice)]).toEqual([tensor.shape, numbers(tensor)]);
      }),
    );
  });

  it('what perGroup cuts up, taken together, is the whole', () => {
    fc.assert(
      fc.property(size, fc.array(size, { minLength: 1, maxLength: 4 }), size, (groups, counts, cols) => {
        const total = counts.reduce((a, b) => a + b, 0);
        const tensor = counted([groups * total, cols]);
        let start = 0;
        const parts = counts.map((count) => {
          const part = apply(tensor, { op: 'perGroup', groups, size: total, start, count });
          start += count;
          return part;
        });
        expect(parts.flatMap(numbers).sort((a, b) => a - b)).toEqual(numbers(tensor));
        // Each group's rows stand in its own place of each part.
        parts.forEach((part, i) => {
          const before = counts.slice(0, i).reduce((a, b) => a + b, 0);
          const count = counts[i]!;
          numbers(part).forEach((value, at) => {
            const row = Math.floor(at / cols);
            const expected = (Math.floor(row / count) * total + before + (row % count)) * cols + (at % cols);
            expect(value).toBe(expected);
          });
        });
      }),
    );
  });

  it('gate and up of both layouts are what concat and interleaving would undo', () => {
    fc.assert(
      fc.property(size, size, fc.integer({ min: 0, max: 1 }), (a, b, axis) => {
        const tensor = counted(axis === 0 ? [2 * a, b] : [b, 2 * a]);
        const half = (part: 'gate' | 'up'): LazyTensor => apply(tensor, { op: 'split', axis, part, layout: 'halves' });
        const joined = applyTransforms([[half('gate')], [half('up')]], [{ op: 'concat', axis }]);
        expect([joined.shape, numbers(joined)]).toEqual([tensor.shape, numbers(tensor)]);
      }),
    );
  });
});
