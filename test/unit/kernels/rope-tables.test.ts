import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RopeTables, type RopeTablePlan } from '@kvad/core';
import { inverseFrequencies } from '../../../core/dist/kernels/rope-frequencies.js';
import { expectClose } from './numbers.js';

interface Case {
  readonly name: string;
  readonly plan: RopeTablePlan;
  readonly length: number;
  readonly inverse: readonly number[];
  readonly positions: readonly number[];
  readonly cos: readonly (readonly number[])[];
  readonly sin: readonly (readonly number[])[];
}
const { cases } = JSON.parse(readFileSync(new URL('../../fixtures/rope/expected.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Case[];
};

/** Steps of a float32 that frequencies may differ by: another library's power function. */
const STEPS = 2 * 2 ** -23;

describe.each(cases)('$name', ({ plan, length, inverse, positions, cos, sin }) => {
  it('has the published inverse frequencies', () => {
    const found = inverseFrequencies(plan, length);
    inverse.forEach((value, i) => {
      expectClose([found[i]!], [value], STEPS * value, `frequency ${i}`);
    });
    expect(found.length).toBe(inverse.length);
  });

  it('has the published cosines and sines', () => {
    const angles = new RopeTables({ main: plan }).angles(
      'main',
      Int32Array.from(positions),
      new Int32Array(positions.length).fill(length),
    );
    expect(angles.dims).toBe(plan.dims);
    positions.forEach((position, row) => {
      inverse.forEach((frequency, i) => {
        const at = row * inverse.length + i;
        // The angle may be off by the frequency's steps, and cos and sin by one of their own each.
        const tolerance = STEPS * position * frequency * 1.5 + 2.5e-7;
        expectClose([angles.cos[at]!], [cos[row]![i]!], tolerance, `cos at ${position}, pair ${i}`);
        expectClose([angles.sin[at]!], [sin[row]![i]!], tolerance, `sin at ${position}, pair ${i}`);
      });
    });
    expect(angles.cos.length).toBe(positions.length * inverse.length);
  });
});

const longrope = {
  type: 'longrope',
  theta: 10000,
  dims: 4,
  originalContext: 8,
  shortFactor: [1, 2],
  longFactor: [3, 4],
  shortScale: 1.5,
  longScale: 2.5,
} as const satisfies RopeTablePlan;
const dynamic = {
  type: 'dynamic',
  theta: 10000,
  dims: 8,
  factor: 2,
  originalContext: 8,
  alpha: null,
} as const satisfies RopeTablePlan;
const yarnEnds = {
  factor: 2,
  originalContext: 1000,
  betaFast: 32,
  betaSlow: 1,
  attentionFactor: 1,
  truncate: true,
} as const;
const plain = { type: 'default', theta: 10000, dims: 8 } as const satisfies RopeTablePlan;

describe('tables that depend on the length', () => {
  it('answer each row by the length of its own sequence', () => {
    const tables = new RopeTables({ main: dynamic });
    const row = (length: number): number[] =>
      Array.from(tables.angles('main', Int32Array.of(5), Int32Array.of(length)).cos);
    const mixed = tables.angles('main', Int32Array.of(5, 5, 5), Int32Array.of(6, 40, 12));
    expect(Array.from(mixed.cos)).toEqual([...row(6), ...row(40), ...row(12)]);
    expect(row(6)).toEqual(row(8));
    expect(row(9)).not.toEqual(row(8));
    expect(row(40)).not.toEqual(row(12));
  });

  it('longrope changes factors and scale beyond its original context', () => {
    const tables = new RopeTables({ main: longrope });
    const { cos } = tables.angles('main', Int32Array.of(0, 0), Int32Array.of(8, 9));
    expectClose(cos, [1.5, 1.5, 2.5, 2.5], 0);
    expect(Array.from(inverseFrequencies(longrope, 8))).toEqual([1, 0.005].map(Math.fround));
    expect(Array.from(inverseFrequencies(longrope, 9))).toEqual([1 / 3, 0.0025].map(Math.fround));
  });
});

it('a dynamic table of one pair turns by the position, whatever its base', () => {
  expect(Array.from(inverseFrequencies({ ...dynamic, dims: 2 }, 40))).toEqual([1]);
});

describe('epoch', () => {
  it('changes where a longrope table crosses its original context', () => {
    const tables = new RopeTables({ a: longrope, b: { ...longrope, originalContext: 20 }, c: dynamic, d: plain });
    const epochs = [0, 1, 8, 9, 20, 21, 1000].map((length) => tables.epoch(length));
    expect(epochs).toEqual([epochs[0], epochs[0], epochs[0], epochs[3], epochs[3], epochs[5], epochs[5]]);
    expect(new Set(epochs).size).toBe(3);
  });

  it('never changes for other tables', () => {
    const tables = new RopeTables({ c: dynamic, d: plain });
    expect(new Set([0, 8, 9, 10000].map((length) => tables.epoch(length))).size).toBe(1);
  });
});

describe('tables that cannot be', () => {
  it.each<[string, RopeTablePlan, string]>([
    ['odd dims', { ...plain, dims: 7 }, 'dims 7 is odd'],
    ['too few factors', { ...longrope, shortFactor: [1] }, '1 factors for 2 pairs'],
    ['a yarn table whose base is 1', { ...plain, type: 'yarn', theta: 1, ...yarnEnds }, 'frequency 0 is NaN'],
    ['more rotated columns than there are', { ...plain, type: 'proportional', rotated: 10, factor: 1 }, 'rotated 10'],
  ])('%s: refused when the table is made', (_name, plan, message) => {
    expect(() => new RopeTables({ main: plan })).toThrow(message);
  });

  it('an unknown id, and positions without lengths', () => {
    const tables = new RopeTables({ main: plain });
    expect(() => tables.angles('other', Int32Array.of(0), Int32Array.of(1))).toThrow('no rope table other');
    expect(() => tables.angles('main', Int32Array.of(0, 1), Int32Array.of(2))).toThrow('2 positions, 1 lengths');
  });
});
