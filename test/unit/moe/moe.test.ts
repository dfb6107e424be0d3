import { createReferenceOps, type FeedForward, type Ops, type PartPlan } from '@kvad/core';
import {
  gatedShared,
  moe,
  plainShared,
  sigmoidRouter,
  topKSoftmaxRouter,
  bySum,
  clampedSwish,
  activated,
} from '@kvad/core/plugin';
import { afterAll, describe, expect, it } from 'vitest';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { createNativeOps } from '../../../core/dist/kernels/native/index.js';
import { expectClose, numbers } from '../kernels/numbers.js';
import { sigmoidChoice, softmaxChoice } from './longhand-router.js';
import { madeWeights } from './made-weights.js';
import { parts } from './plugins.js';

const HIDDEN = 6;
const SIZE = 5;
const EXPERTS = 4;
const dims = { hiddenSize: HIDDEN, vocabSize: 1 };
const silu: PartPlan = { kind: 'silu', options: {} };
const plain = {
  experts: EXPERTS,
  perToken: 2,
  size: SIZE,
  gating: activated(silu),
  router: topKSoftmaxRouter({ bias: false }),
};

const VARIANTS = {
  plain: moe(plain),
  'one expert a token': moe({ ...plain, perToken: 1 }),
  'all experts': moe({ ...plain, perToken: EXPERTS }),
  biases: moe({ ...plain, bias: true }),
  'a clamped gate, and biases': moe({ ...plain, gating: clampedSwish(0.3, 1.7, 1), bias: true }),
  'a bias of the router': moe({ ...plain, router: topKSoftmaxRouter({ bias: true }) }),
  'a sigmoid router with scale': moe({ ...plain, router: sigmoidRouter({ normalise: bySum(1e-20), scale: 2.5 }) }),
  'a plain shared expert': moe({ ...plain, shared: plainShared({ size: 3, activation: silu }) }),
  'a shared expert with biases': moe({ ...plain, shared: plainShared({ size: 3, activation: silu, bias: true }) }),
  'a gated shared expert': moe({ ...plain, shared: gatedShared({ size: 3, activation: silu }) }),
} as const;
type Variant = ReturnType<typeof moe>;

const partOf = ({ kind, ...options }: Variant): PartPlan => ({ kind, options });

/** Values between -1 and 1 that differ by slot and index. */
const valuesOf = (name: string, count: number): Float32Array =>
  numbers(
    [...name].reduce((hash, letter) => hash * 31 + letter.charCodeAt(0), 7),
    count,
  );

const σ = (x: number): number => 1 / (1 + Math.exp(-x));
const clamp = (x: number, limit: number): number => Math.min(Math.max(x, -limit), limit);

/** The feed-forward of one row in plain loops. */
const longhand = (o: Variant, x: readonly number[]): number[] => {
  const slots = parts.slots('ffn', partOf(o), dims, '');
  const values = (name: string): Float32Array => {
    const slot = slots.find((one) => one.name === name);
    return slot === undefined
      ? new Float32Array(0)
      : valuesOf(
          name,
          slot.shape.reduce((a, b) => a * b, 1),
        );
  };
  /** `W x + b` of the `at`-th matrix of a slot. */
  const linear = (name: string, rows: number, input: readonly number[], at = 0): number[] =>
    Array.from({ length: rows }, (_, r) => {
      const start = (at * rows + r) * input.length;
      const weight = values(`${name}.weight`).subarray(start, start + input.length);
      return input.reduce((sum, value, i) => sum + value * weight[i]!, values(`${name}.bias`)[at * rows + r] ?? 0);
    });
  const join = (gate: number, up: number): number => {
    if (o.gating.kind === 'activation') return gate * σ(gate) * up;
    const { limit, alpha, shift } = o.gating;
    const g = Math.min(gate, limit);
    return g * σ(alpha * g) * (clamp(up, limit) + shift);
  };
  const expert = (e: number): number[] => {
    const [gate, up] = [linear('experts.gate', SIZE, x, e), linear('experts.up', SIZE, x, e)];
    return linear(
      'experts.down',
      HIDDEN,
      gate.map((g, i) => join(g, up[i]!)),
      e,
    );
  };
  const logits = linear('router.logits', EXPERTS, x).map(Math.fround);
  const { rule } = o.router.options as { rule: never };
  const choice = (o.router.kind === 'softmax' ? softmaxChoice : sigmoidChoice)(
    logits,
    [...values('router.selectionBias')],
    o.perToken,
    rule,
  );
  const out = Array.from({ length: HIDDEN }, (_, c) =>
    choice.ids.reduce((sum, e, j) => sum + choice.weights[j]! * expert(e)[c]!, 0),
  );
  if (o.shared === null) return out;
  const { size } = o.shared.options as { size: number };
  const [gate, up] = [linear('shared.gate', size, x), linear('shared.up', size, x)];
  const shared = linear(
    'shared.down',
    HIDDEN,
    gate.map((g, i) => g * σ(g) * up[i]!),
  );
  const factor = o.shared.kind === 'gated' ? σ(linear('shared.outGate', 1, x)[0]!) : 1;
  return out.map((value, c) => value + factor * shared[c]!);
};

const implementations: Record<string, Ops> = { reference: createReferenceOps({ kvCacheDtype: 'f32' }) };
for (const kernels of loadAddon()?.available.split(',') ?? [])
  implementations[kernels] = createNativeOps({ threads: 2, kernels, kvCacheDtype: 'f32', dequantise: false })!;
/** Recorded calls use the weights of a part later: it must live until then. */
const held: FeedForward[] = [];
afterAll(() => {
  for (const ops of Object.values(implementations)) ops.dispose();
});

const create = (variant: Variant, ops: Ops): FeedForward => {
  const slots = parts.slots('ffn', partOf(variant), dims, '');
  const weights = madeWeights(ops, slots, ({ name, shape }) =>
    valuesOf(
      name,
      shape.reduce((a, b) => a * b, 1),
    ),
  );
  return parts.create('ffn', partOf(variant), dims, weights, ops);
};

describe.each(Object.entries(implementations))('experts on %s arithmetic', (_, ops) => {
  it.each(Object.entries(VARIANTS))('%s: as the formula says', (_name, variant) => {
    const rows = 7;
    const x = numbers(11, rows * HIDDEN);
    const out = ops.tensor(rows, HIDDEN);
    const ffn = create(variant, ops);
    held.push(ffn);
    ffn.forward(ops.upload(x, rows, HIDDEN), out, undefined as never);
    const wanted = Array.from({ length: rows }, (_row, r) =>
      longhand(variant, [...x.slice(r * HIDDEN, (r + 1) * HIDDEN)]),
    );
    expectClose([...ops.host(out)], wanted.flat(), 1e-6 * Math.max(1, ...wanted.flat().map(Math.abs)));
  });
});

describe('what experts are told', () => {
  const slots = (options: object): unknown => parts.slots('ffn', { kind: 'moe', options }, dims, '');
  const { kind: _kind, ...options } = VARIANTS.plain;

  it('names the stacks, and how many of their experts a token uses', () => {
    expect(slots(options)).toEqual([
      { name: 'router.logits.weight', shape: [EXPERTS, HIDDEN], role: 'exact' },
      { name: 'experts.gate.weight', shape: [EXPERTS, SIZE, HIDDEN], role: 'stack', active: 2 },
      { name: 'experts.up.weight', shape: [EXPERTS, SIZE, HIDDEN], role: 'stack', active: 2 },
      { name: 'experts.down.weight', shape: [EXPERTS, HIDDEN, SIZE], role: 'stack', active: 2 },
    ]);
  });

  it('names the parts that it is made of', () => {
    const named = parts.nested({ axis: 'ffn', part: partOf(VARIANTS['a gated shared expert']) });
    expect(named.map(({ axis, part }) => `${axis} ${part.kind}`)).toEqual([
      'router softmax',
      'activation silu',
      'shared-expert gated',
    ]);
  });

  it.each([
    ['more experts a token than there are', { perToken: 5 }, 'a token cannot go to 5 of 4 experts'],
    ['an option that it does not know', { other: 1 }, 'other'],
    ['a router that no plugin brings', { router: { kind: 'hash', options: {} } }, 'hash'],
    ['a gate of two kinds', { gating: { ...activated(silu), limit: 7 } }, '/gating'],
  ])('refuses %s', (_name, edit, message) => {
    expect(() => slots({ ...options, ...edit })).toThrow(message);
  });
});
