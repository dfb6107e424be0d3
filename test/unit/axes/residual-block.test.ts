import { describe, expect, it } from 'vitest';
import { BUILTIN_PARTS, type BlockOp, type LayerContext, type Norm, type Ops, type Tensor } from '@kvad/core';
import { expectClose, hostFloats, newOps } from '../kernels/numbers.js';

type Residual = BlockOp['residual'];

/** x -> factor * x + shift, as a norm or the body of an op: each step leaves its own trace in the numbers. */
const linear =
  (factor: number, shift: number): ((x: number) => number) =>
  (x) =>
    factor * x + shift;

const apply = (ops: Ops, f: (x: number) => number, x: Tensor, out: Tensor): void => {
  ops.write(out, hostFloats(ops, x).map(f));
};

interface Step {
  readonly body: (x: number) => number;
  readonly before?: (x: number) => number;
  readonly after?: (x: number) => number;
  readonly sum?: (x: number) => number;
  readonly residual?: Partial<Residual>;
}

const ADD: Residual = { scale: 1, keep: 1, from: 'previous' };

/** Runs the block on `start`; gives the stream after it and the residual that each op was shown. */
const run = (start: readonly number[], steps: readonly Step[]): { x: Float32Array; shown: number[][] } => {
  const ops = newOps();
  const shown: number[][] = [];
  const norm = (f: ((x: number) => number) | undefined): Norm | null =>
    f === undefined
      ? null
      : {
          forward: (x, out) => {
            apply(ops, f, x, out);
          },
        };
  const blockOps = steps.map(({ body, before, after, sum, residual }, index): BlockOp => ({
    name: `op${index}`,
    body: {
      state: [],
      forward: (x, out) => {
        apply(ops, body, x, out);
      },
    },
    before: norm(before),
    after: norm(after),
    sum: norm(sum),
    residual: { ...ADD, ...residual },
    context: (tensor) => {
      shown.push(Array.from(hostFloats(ops, tensor)));
      return {} as LayerContext;
    },
  }));
  const block = BUILTIN_PARTS.blocks[0]!.create(
    {},
    { ops, dims: { hiddenSize: start.length, vocabSize: 1 }, weights: {} as never, parts: {} as never },
  );
  const x = ops.upload(Float32Array.from(start), 1, start.length);
  const mark = ops.mark();
  block.forward(x, blockOps);
  expect(ops.mark(), 'scratch that was left').toBe(mark);
  return { x: Float32Array.from(hostFloats(ops, x)), shown };
};

const a = linear(2, 1);
const b = linear(-3, 0.5);
const n = linear(0.5, 0.25);
const m = linear(4, -1);
const START = [1, -2, 0.5];

describe.each<[string, readonly Step[], (x: number) => number]>([
  [
    'pre: x += op(norm(x)), twice',
    [
      { body: a, before: n },
      { body: b, before: m },
    ],
    (x) => {
      const y = x + a(n(x));
      return y + b(m(y));
    },
  ],
  [
    'post: x += norm(op(x))',
    [
      { body: a, after: n },
      { body: b, after: m },
    ],
    (x) => {
      const y = x + n(a(x));
      return y + m(b(y));
    },
  ],
  ['sandwich: x += norm(op(norm(x)))', [{ body: a, before: n, after: m }], (x) => x + m(a(n(x)))],
  [
    'norm of the sum: x = norm(x + op(x))',
    [
      { body: a, sum: n },
      { body: b, sum: m },
    ],
    (x) => {
      const y = n(x + a(x));
      return m(y + b(y));
    },
  ],
  [
    'parallel: both ops read what the block was given',
    [
      { body: a, before: n, residual: { from: 'input' } },
      { body: b, before: m, residual: { from: 'input' } },
    ],
    (x) => x + a(n(x)) + b(m(x)),
  ],
  ['a parallel op after one in order', [{ body: a }, { body: b, residual: { from: 'input' } }], (x) => x + a(x) + b(x)],
  ['scale', [{ body: a, before: n, residual: { scale: 0.25 } }], (x) => x + 0.25 * a(n(x))],
  ['keep and scale', [{ body: a, residual: { keep: 0.5, scale: -2 } }], (x) => 0.5 * x - 2 * a(x)],
  [
    'the residual from the normed input',
    [{ body: a, before: n, residual: { from: 'normed', keep: 3, scale: 2 } }],
    (x) => 3 * n(x) + 2 * a(n(x)),
  ],
  ['normed without a norm is the plain case', [{ body: a, residual: { from: 'normed' } }], (x) => x + a(x)],
  [
    'none: the output takes its place',
    [{ body: a, before: n, residual: { from: 'none', scale: 2 } }],
    (x) => 2 * a(n(x)),
  ],
  ['one op', [{ body: a }], (x) => x + a(x)],
  [
    'five ops',
    [a, b, a, b, a].map((body) => ({ body, residual: { scale: 0.1 } })),
    (x) => [a, b, a, b, a].reduce((y, body) => y + 0.1 * body(y), x),
  ],
])('%s', (_name, steps, expected) => {
  it('is what its formula says', () => {
    expectClose(run(START, steps).x, START.map(expected), 1e-4);
  });
});

describe('the residual that an op is shown', () => {
  it('is the stream before the norm, as the op before left it', () => {
    const { shown } = run(START, [
      { body: a, before: n },
      { body: b, before: m },
    ]);
    expectClose(shown[0]!, START, 0);
    expectClose(
      shown[1]!,
      START.map((x) => x + a(n(x))),
      1e-6,
    );
  });

  it('is the input of the block for a parallel op', () => {
    const { shown } = run(START, [
      { body: a, residual: { from: 'input' } },
      { body: b, residual: { from: 'input' } },
    ]);
    expectClose(shown[1]!, START, 0);
  });
});
