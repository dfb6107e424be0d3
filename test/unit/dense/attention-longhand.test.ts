import { createReferenceOps } from '@kvad/core';
import type { LayerContext, Ops, PartWeights, Tensor, WeightSlot } from '@kvad/core/plugin';
import { describe, expect, it } from 'vitest';
import type { AttentionOptions } from '../../../plugins/dense/dist/parts/attention-options.js';
import { dense } from './hand-made.js';
import { longhandAttention, type Rotation } from './longhand-attention.js';

const TOKENS = 11;
const HIDDEN = 10;
const TURN: Rotation = { theta: 100, dims: 4 };
const PLAIN: AttentionOptions = {
  heads: 4,
  kvHeads: 2,
  headDim: 6,
  valueDim: 3,
  bias: { q: false, k: false, v: false, o: false },
  scale: 0.4,
  positions: { kind: 'rope', table: 'main', layout: 'half', direction: 'forward' },
  mask: { kind: 'causal' },
};
const NORM = {
  kind: 'rms',
  eps: 0.01,
  offset: 0,
  weight: true,
  bias: false,
  scope: 'head',
  when: 'before-rope',
} as const;
const ROPE = { kind: 'rope', table: 'main' } as const;

const VARIANTS: Readonly<Record<string, Partial<AttentionOptions>>> = {
  'nothing special': {},
  ...Object.fromEntries(
    (['q', 'k', 'v', 'o'] as const).map((p) => [`a bias of ${p}`, { bias: { ...PLAIN.bias, [p]: true } }]),
  ),
  'one head of keys': { kvHeads: 1 },
  'a head of keys for each query': { kvHeads: 4 },
  'no positions': { positions: { kind: 'none' } },
  'interleaved rotation': { positions: { ...ROPE, layout: 'interleaved', direction: 'forward' } },
  'backward rotation': { positions: { ...ROPE, layout: 'half', direction: 'backward' } },
  'a window': { mask: { kind: 'window', size: 3 } },
  'a window of one': { mask: { kind: 'window', size: 1 } },
  chunks: { mask: { kind: 'chunk', size: 4 } },
  'clipped projections': { clip: 0.7 },
  'clipped projections, behind their norms': { clipNormed: 0.7, qkNorm: NORM },
  'a softcap': { softcap: 0.8 },
  sinks: { sinks: 'per-head' },
  'scaled values': { valueScale: -1.5 },
  'queries scaled by position': { queryScale: { kind: 'position', strength: 0.5, every: 3 } },
  'queries scaled by the next position': { queryScale: { kind: 'next-position', strength: 0.5, every: 3 } },
  'a sigmoid gate': { outGate: 'sigmoid' },
  'a sigmoid gate with a bias': { outGate: 'sigmoid', bias: { ...PLAIN.bias, gate: true } },
  'a softplus gate': { outGate: 'softplus' },
  'a softplus gate a head': { outGate: 'softplus-per-head' },
  ...Object.fromEntries(
    (['rms', 'layernorm'] as const).flatMap((kind) =>
      (['head', 'head-own', 'full'] as const).flatMap((scope) =>
        (['before-rope', 'after-rope'] as const).map((when) => [
          `${kind} of queries and keys, ${scope}, ${when}`,
          { qkNorm: { ...NORM, kind, scope, when, bias: kind === 'layernorm' } },
        ]),
      ),
    ),
  ),
  'an rms norm of queries and keys with offset': { qkNorm: { ...NORM, offset: 1 } },
  'a layer norm of queries and keys with offset': { qkNorm: { ...NORM, kind: 'layernorm', offset: 1 } },
  'an rms norm of queries and keys without weight': { qkNorm: { ...NORM, weight: false } },
  'a layer norm of queries and keys without weight': { qkNorm: { ...NORM, kind: 'layernorm', weight: false } },
};

/** Values between -1 and 1 that differ by slot and index. */
const valuesOf = (slot: string, count: number): number[] => {
  const seed = [...slot].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % 1000;
  return Array.from({ length: count }, (_, i) => Math.fround(Math.sin(seed + 1.7 * i + 0.01 * i * i)));
};

const part = dense.plugin.mixers.find(({ kind }) => kind === 'attention')!;
const parts = { slots: () => [], normSlots: () => [] } as never;

/** The values of a slot that the mixer has with these options. */
const slotValues =
  (options: AttentionOptions) =>
  (name: string): { shape: readonly number[]; values: number[] } => {
    const slots: readonly WeightSlot[] = part.slots(options, { hiddenSize: HIDDEN, vocabSize: 1 }, parts);
    const { shape } = slots.find((slot) => slot.name === name)!;
    const count = shape.reduce((product, size) => product * size, 1);
    return { shape, values: valuesOf(name, count) };
  };

/** The mixer over `x`, in calls of these lengths. */
const forward = (options: AttentionOptions, x: number[][], lengths: readonly number[]): number[][] => {
  const ops = createReferenceOps({ kvCacheDtype: 'f32' });
  const data = (name: string) => {
    const { shape, values } = slotValues(options)(name);
    return { dtype: 'F32' as const, shape, bytes: new Uint8Array(Float32Array.from(values).buffer) };
  };
  const weights = {
    matrix: (name: string) => ops.matrix(data(name), null),
    vector: (name: string) => ops.vector(data(name)),
  } as unknown as PartWeights;
  const mixer = part.create(options, { dims: { hiddenSize: HIDDEN, vocabSize: 1 }, weights, ops, parts });
  const states = new Map(mixer.state.map((spec) => [spec.name, ops.state(spec)]));
  let position = 0;
  return lengths.flatMap((length) => {
    const rows = x.slice(position, position + length);
    const out = ops.tensor(length, HIDDEN);
    mixer.forward(upload(ops, rows), out, contextOf(ops, states, position, length));
    position += length;
    const flat = [...ops.host(out)];
    return rows.map((_, row) => flat.slice(row * HIDDEN, (row + 1) * HIDDEN));
  });
};

const upload = (ops: Ops, rows: readonly (readonly number[])[]): Tensor =>
  ops.upload(Float32Array.from(rows.flat()), rows.length, rows[0]!.length);

const contextOf = (ops: Ops, states: ReadonlyMap<string, unknown>, position: number, length: number): LayerContext => {
  const angles = (f: (angle: number) => number) =>
    upload(
      ops,
      Array.from({ length }, (_, row) =>
        Array.from({ length: TURN.dims / 2 }, (_, pair) =>
          f((position + row) * TURN.theta ** ((-2 * pair) / TURN.dims)),
        ),
      ),
    );
  return {
    batch: { rows: length, segments: [{ sequence: 0, start: 0, length, position }] },
    rope: () => ({ cos: angles(Math.cos), sin: angles(Math.sin), dims: TURN.dims }),
    state: (name: string) => [states.get(name)],
  } as unknown as LayerContext;
};

/** Options that are held against published models only. */
const PROVED_BY_FIXTURES: readonly string[] = ['outNorm'];

it('no option of attention is without a proof', () => {
  const known = Object.keys(part.options['properties'] as object);
  const proved = Object.values(VARIANTS).flatMap((variant) => Object.keys(variant));
  const unproved = known.filter((key) => !(key in PLAIN) && !proved.includes(key) && !PROVED_BY_FIXTURES.includes(key));
  expect(unproved).toEqual([]);
});

describe('attention against longhand', () => {
  const x = Array.from({ length: TOKENS }, (_, row) => valuesOf(`x${row}`, HIDDEN));
  const options = (variant: Partial<AttentionOptions>): AttentionOptions => ({ ...PLAIN, ...variant });
  const longhand = (variant: Partial<AttentionOptions>): number[][] =>
    longhandAttention(options(variant), (slot) => slotValues(options(variant))(slot).values, x, TURN);

  it.each(Object.entries(VARIANTS))('%s', (name, variant) => {
    const expected = longhand(variant);
    for (const lengths of [[TOKENS], [3, 1, 7]]) {
      const actual = forward(options(variant), x, lengths);
      const worst = Math.max(...actual.flatMap((row, r) => row.map((y, i) => Math.abs(y - expected[r]![i]!))));
      expect(worst, `in calls of ${lengths.join(', ')} rows`).toBeLessThan(1e-5);
    }
    if (name !== 'nothing special') expect(expected).not.toEqual(longhand({}));
  });
});
