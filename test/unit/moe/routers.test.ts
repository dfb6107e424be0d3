import { createReferenceOps, type Ops, type Router } from '@kvad/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SelectionOptions } from '../../../plugins/moe/dist/parts/selection.js';
import type { SoftmaxRule } from '../../../plugins/moe/dist/parts/softmax-router.js';
import { sigmoidChoice, softmaxChoice, type Choice } from './longhand-router.js';
import { madeWeights } from './made-weights.js';
import { parts } from './plugins.js';

const ops: Ops = createReferenceOps({ kvCacheDtype: 'f32' });

interface Case {
  readonly kind: 'softmax' | 'sigmoid';
  readonly perToken: number;
  readonly rule: SelectionOptions | SoftmaxRule;
  /** Added to the scores for the choice. */
  readonly selectionBias: readonly number[];
  readonly rows: readonly (readonly number[])[];
}

/** As many columns as experts and a unit matrix: the logits are the input. */
const createRouter = ({ kind, perToken, rule, selectionBias, rows }: Case): Router => {
  const experts = rows[0]!.length;
  const part = { kind, options: { experts, perToken, bias: false, rule } };
  const dims = { hiddenSize: experts, vocabSize: 1 };
  const unit = Float32Array.from({ length: experts ** 2 }, (_, i) => (i % (experts + 1) === 0 ? 1 : 0));
  const weights = madeWeights(ops, parts.slots('router', part, dims, ''), ({ name }) =>
    name === 'selectionBias' ? Float32Array.from(selectionBias) : unit,
  );
  return parts.create('router', part, dims, weights, ops);
};

const route = (question: Case): Choice[] => {
  const router = createRouter(question);
  const { rows, perToken } = question;
  const x = ops.upload(Float32Array.from(rows.flat()), rows.length, rows[0]!.length);
  const ids = ops.tensor(rows.length, perToken, 'i32');
  const weights = ops.tensor(rows.length, perToken);
  router.forward(x, ids, weights, undefined as never);
  const [chosen, given] = [[...ops.host(ids)], [...ops.host(weights)]];
  return rows.map((_, r) => ({
    ids: chosen.slice(r * perToken, (r + 1) * perToken),
    weights: given.slice(r * perToken, (r + 1) * perToken),
  }));
};

const longhand = ({ kind, perToken, rule, selectionBias, rows }: Case): Choice[] =>
  rows.map((logits) =>
    kind === 'softmax'
      ? softmaxChoice(logits, selectionBias, perToken, rule as SoftmaxRule)
      : sigmoidChoice(logits, selectionBias, perToken, rule as SelectionOptions),
  );

/** Float32 numbers on a coarse grid, so that many are equal, some of them moved to the next float32. */
const nearTies = fc
  .tuple(fc.integer({ min: -6, max: 6 }), fc.constantFrom(-2, -1, 0, 0, 0, 0, 1, 2))
  .map(([step, ulps]) => Math.fround(step * 0.75 * (1 + ulps * 2 ** -23)));
const spread = fc.double({ min: -20, max: 20, noNaN: true }).map(Math.fround);

const normalise = fc.oneof(
  fc.constant({ by: 'nothing' as const }),
  fc.constantFrom(0, 1e-20, 1e-6).map((eps) => ({ by: 'sum' as const, eps })),
  fc.constantFrom(0, 1e-12, 0.7).map((floor) => ({ by: 'clamped-sum' as const, floor })),
);

/** Groups with room for `perToken` experts in those that are kept. */
const groupsOf = (experts: number, perToken: number) => {
  const counts = [2, 3, 4, 5, 6].filter((count) => experts % count === 0 && experts / count >= 2);
  if (counts.length === 0) return fc.constant(null);
  const groups = fc.constantFrom(...counts).chain((count) =>
    fc.record({
      count: fc.constant(count),
      keep: fc.integer({ min: Math.ceil((perToken * count) / experts), max: count }),
      by: fc.constantFrom('max' as const, 'sum-of-two' as const),
      masked: fc.constantFrom('zero' as const, 'lowest' as const),
    }),
  );
  return fc.option(groups, { nil: null });
};

const selection = (experts: number, perToken: number) =>
  fc.record({
    selectionBias: fc.boolean(),
    groups: groupsOf(experts, perToken),
    normalise,
    scale: fc.constantFrom(1, 2.5, 0.3),
  });

const cases = fc.integer({ min: 1, max: 12 }).chain((experts) =>
  fc.integer({ min: 1, max: experts }).chain((perToken) => {
    const logits = fc.oneof(nearTies, spread);
    const row = fc.array(logits, { minLength: experts, maxLength: experts });
    const shared = {
      perToken: fc.constant(perToken),
      selectionBias: fc.array(fc.oneof(nearTies, fc.constant(0)), { minLength: experts, maxLength: experts }),
      rows: fc.array(row, { minLength: 1, maxLength: 4 }),
    };
    const rule = selection(experts, perToken);
    return fc.oneof(
      fc.record<Case>({ kind: fc.constant('sigmoid' as const), rule, ...shared }),
      fc.record<Case>({
        kind: fc.constant('softmax' as const),
        rule: fc.oneof(
          rule.map((options) => ({ order: 'softmax-then-top-k' as const, ...options })),
          fc.constant({ order: 'top-k-then-softmax' as const }),
        ),
        ...shared,
      }),
    );
  }),
);

describe('routers', () => {
  it('choose and weigh as the longhand definition does, with ties and near ties', () => {
    fc.assert(
      fc.property(cases, (question) => {
        const expected = longhand(question);
        route(question).forEach(({ ids, weights }, r) => {
          expect(ids).toEqual(expected[r]!.ids);
          weights.forEach((weight, j) => {
            const wanted = expected[r]!.weights[j]!;
            if (Number.isNaN(wanted)) expect(weight).toBeNaN();
            else expect(Math.abs(weight - wanted)).toBeLessThanOrEqual(1e-6 * Math.abs(wanted));
          });
        });
      }),
      { numRuns: 600 },
    );
  });

  const flat = { selectionBias: false, groups: null, normalise: { by: 'nothing' }, scale: 1 } as const;

  it('take the lowest of equal experts', () => {
    const rows = [[1, 2, 2, 2, 1, 2]];
    for (const [kind, rule] of [
      ['sigmoid', flat],
      ['softmax', { order: 'softmax-then-top-k', ...flat }],
      ['softmax', { order: 'top-k-then-softmax' }],
    ] as const)
      expect(route({ kind, perToken: 3, rule, selectionBias: [], rows })[0]!.ids).toEqual([1, 2, 3]);
  });

  it('choose with the bias and weigh without it', () => {
    const rule = { ...flat, selectionBias: true };
    const [choice] = route({ kind: 'sigmoid', perToken: 1, rule, selectionBias: [0, 0, 5], rows: [[3, 2, -1]] });
    expect(choice!.ids).toEqual([2]);
    expect(choice!.weights[0]).toBeCloseTo(1 / (1 + Math.E), 6);
  });

  it('take no expert of a weak group, however low the biases of the strong ones are, unless they count as 0', () => {
    const bias = [-3, -3, -9, -9];
    const groups = { count: 2, keep: 1, by: 'sum-of-two' } as const;
    const ids = (masked: 'zero' | 'lowest'): readonly number[] => {
      const rule = { ...flat, selectionBias: true, groups: { ...groups, masked } };
      return route({ kind: 'sigmoid', perToken: 2, rule, selectionBias: bias, rows: [[0, 0, 4, 4]] })[0]!.ids;
    };
    expect(ids('lowest')).toEqual([0, 1]);
    expect(ids('zero')).toEqual([2, 3]);
  });

  it('add a bias to the logits where the plan says so', () => {
    const part = {
      kind: 'softmax',
      options: { experts: 2, perToken: 1, bias: true, rule: { order: 'top-k-then-softmax' } },
    };
    const slots = parts.slots('router', part, { hiddenSize: 3, vocabSize: 1 }, '');
    expect(slots).toEqual([
      { name: 'logits.weight', shape: [2, 3], role: 'exact' },
      { name: 'logits.bias', shape: [2], role: 'exact' },
    ]);
  });
});
