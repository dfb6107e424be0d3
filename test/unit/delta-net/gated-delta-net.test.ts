import fc from 'fast-check';
import { rms } from '@kvad/core/plugin';
import { afterAll, describe, expect, it } from 'vitest';
import { FUNCTIONS, longhand, type LonghandOptions, type Row } from './longhand.js';
import { ARITHMETICS, MixerUnderTest, numbers, type Rows } from './mixer-under-test.js';

const LENGTH_EPS = 1e-6;
const OUT_EPS = 1e-2;

interface Shape {
  readonly hidden: number;
  readonly keyHeads: number;
  readonly group: number;
  readonly keyDim: number;
  readonly valueDim: number;
  readonly kernel: number;
  readonly activation: keyof typeof FUNCTIONS;
  readonly betaScale: number;
  readonly outGate: keyof typeof FUNCTIONS;
  readonly seed: number;
}

const size = (max: number) => fc.integer({ min: 1, max });
const anyShape: fc.Arbitrary<Shape> = fc.record({
  hidden: size(9),
  keyHeads: size(3),
  group: size(3),
  keyDim: size(9),
  valueDim: size(11),
  kernel: fc.integer({ min: 2, max: 5 }),
  activation: fc.constantFrom('silu' as const, 'relu' as const),
  betaScale: fc.constantFrom(1, 2),
  outGate: fc.constantFrom('silu' as const, 'sigmoid' as const),
  seed: fc.integer({ min: 1, max: 2 ** 31 }),
});

const named = (kind: string) => ({ kind, options: {} });
const sizesOf = ({ keyHeads, group, keyDim, valueDim, kernel, betaScale }: Shape) => ({
  keyHeads,
  valueHeads: keyHeads * group,
  keyDim,
  valueDim,
  kernel,
  lengthEps: LENGTH_EPS,
  betaScale,
});
const optionsOf = (shape: Shape) => ({
  ...sizesOf(shape),
  activation: named(shape.activation),
  outNorm: rms(OUT_EPS),
  outGate: named(shape.outGate),
});
const longhandOf = (shape: Shape): LonghandOptions => ({
  ...sizesOf(shape),
  activation: FUNCTIONS[shape.activation],
  outEps: OUT_EPS,
  outGate: FUNCTIONS[shape.outGate],
});

const inputs = (count: number, { hidden, seed }: Shape, salt = 0): Row[] => {
  const next = numbers(seed + 7919 * (salt + 1));
  return Array.from({ length: count }, () => Array.from({ length: hidden }, () => 2 * next()));
};

/** The largest difference, over the largest value; NaN is the worst. */
const apart = (got: readonly Row[], expected: readonly Row[]): number => {
  const top = expected.flat().reduce((most, value) => Math.max(most, Math.abs(value)), 1);
  const differences = expected.flatMap((row, r) => row.map((value, c) => Math.abs(got[r]![c]! - value) / top));
  return differences.reduce((most, value) => (value <= most ? most : value), 0);
};

/**
 * f32 against doubles: a key of two values that relu nearly cuts off is normalised all the same, which makes rounding a
 * thousand times larger. What is wrong in a formula differs by hundredths.
 */
const NEAR = 5e-4;

describe.each(Object.entries(ARITHMETICS))('gated-delta-net on %s', (_, makeOps) => {
  const ops = makeOps();
  afterAll(() => {
    ops.dispose();
  });

  it('is what its formula says, for any heads, sizes and options', () => {
    fc.assert(
      fc.property(anyShape, size(20), (shape, length) => {
        const tested = new MixerUnderTest(ops, optionsOf(shape), shape.hidden, shape.seed);
        const xs = inputs(length, shape);
        const [got] = tested.forward([{ states: tested.states(), xs }]);
        expect(apart(got!, longhand(longhandOf(shape), tested.values, xs))).toBeLessThan(NEAR);
      }),
      { numRuns: 60 },
    );
  });

  it('is the same in pieces of any length, beside other sequences, each with a memory of its own', () => {
    const lengths = fc.array(fc.array(size(7), { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(anyShape, lengths, (shape, pieces) => {
        const tested = new MixerUnderTest(ops, optionsOf(shape), shape.hidden, shape.seed);
        const sequences = pieces.map((cuts, index) => {
          const xs = inputs(
            cuts.reduce((sum, cut) => sum + cut, 0),
            shape,
            index,
          );
          return { cuts, xs, states: tested.states(), got: [] as number[][] };
        });
        for (let step = 0; step < Math.max(...pieces.map(({ length }) => length)); step++) {
          const going = sequences.filter(({ cuts }) => step < cuts.length);
          const batch = going.map(({ cuts, xs, states, got }): Rows => ({
            states,
            xs: xs.slice(got.length, got.length + cuts[step]!),
          }));
          tested.forward(batch).forEach((rows, index) => going[index]!.got.push(...rows));
        }
        for (const { xs, got } of sequences)
          expect(apart(got, longhand(longhandOf(shape), tested.values, xs))).toBeLessThan(NEAR);
      }),
      { numRuns: 40 },
    );
  });

  it('keeps the last inputs of the convolution, not what it gives, and starts from nothing', () => {
    const shape: Shape = {
      hidden: 3,
      keyHeads: 1,
      group: 1,
      keyDim: 1,
      valueDim: 1,
      kernel: 3,
      activation: 'relu',
      betaScale: 1,
      outGate: 'sigmoid',
      seed: 5,
    };
    const tested = new MixerUnderTest(ops, optionsOf(shape), 3, 5);
    const states = tested.states();
    expect([...ops.host(ops.stateTensor(states['conv']!))]).toEqual(new Array(6).fill(0));
    const xs = inputs(4, shape);
    tested.forward([{ states, xs }]);
    const held = [...ops.host(ops.stateTensor(states['conv']!))];
    const expected = ['q', 'k', 'v'].flatMap((name) =>
      xs.slice(2).map((x) => x.reduce((sum, value, i) => sum + value * tested.values[`${name}.weight`]![i]!, 0)),
    );
    held.forEach((value, index) => expect(value).toBeCloseTo(expected[index]!, 5));
  });
});

describe('options of gated-delta-net', () => {
  const ops = ARITHMETICS['reference']!();
  const shape: Shape = {
    hidden: 4,
    keyHeads: 2,
    group: 2,
    keyDim: 2,
    valueDim: 3,
    kernel: 4,
    activation: 'silu',
    betaScale: 1,
    outGate: 'silu',
    seed: 1,
  };
  const made = (change: Readonly<Record<string, unknown>>) =>
    new MixerUnderTest(ops, { ...optionsOf(shape), ...change }, 4, 1);

  it('states are of fixed size, in f32, and cannot be cut back', () => {
    expect(made({}).mixer.state).toEqual([
      { name: 'conv', kind: 'conv', shape: [20, 3], dtype: 'f32', init: 0, rollback: 'none' },
      { name: 'delta', kind: 'recurrent', shape: [4, 2, 3], dtype: 'f32', init: 0, rollback: 'none' },
    ]);
  });

  it.each([
    ['value heads that are no multiple of the key heads', { valueHeads: 5 }, '2 key heads do not divide 5 value heads'],
    ['a convolution over one token', { kernel: 1 }, '>= 2'],
    ['a β that reaches elsewhere', { betaScale: 1.5 }, '1, 2'],
    ['an activation that nobody brings', { activation: named('no-such') }, 'no-such'],
    ['a misspelt option', { kernels: 4 }, 'kernels'],
  ])('refuses %s', (_, change, message) => {
    expect(() => made(change)).toThrow(message);
  });
});
