import {
  createReferenceOps,
  definePart,
  definePlugin,
  BUILTIN_PARTS,
  PartRegistry,
  planSlots,
  layerNorm,
  type FeedForward,
  type ModelPlan,
  type SideInput,
  type Stack,
  type Tensor,
} from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { sinusoids } from '../../../core/dist/runtime/embedding.js';
import { Model } from '../../../core/dist/runtime/model.js';
import { distance, fresh, HIDDEN, idsOf, TOY, toyModel, toyPlan, ToySequence, toyWeights, VOCAB } from './toy.js';

/** Rows of a weight of the toy model as numbers. */
const rowsOf = (plan: ModelPlan, name: string): number[][] => {
  const slot = planSlots(plan, parts).find((one) => one.name === name)!;
  const { bytes } = toyWeights([slot]).read(name);
  const values = [...new Float32Array(bytes.buffer)];
  const cols = slot.shape.at(-1)!;
  return Array.from({ length: values.length / cols }, (_, row) => values.slice(row * cols, (row + 1) * cols));
};

const silent = definePart<FeedForward, object>({
  kind: 'silent',
  about: 'adds nothing',
  options: { type: 'object' },
  slots: () => [],
  create: (_, { ops }) => ({
    state: [],
    forward: (_x, out) => {
      ops.scale(out, out, 0);
      ops.write(out, new Float32Array(out.rows * out.cols));
    },
  }),
});
const doubling = definePart<SideInput, object>({
  kind: 'doubling',
  about: 'twice the embedding',
  options: { type: 'object' },
  slots: () => [],
  create: (_, { ops }) => ({
    forward: (embedding) => {
      const out = ops.tensor(embedding.rows, embedding.cols);
      ops.scale(embedding, out, 2);
      return out;
    },
  }),
});
const adding = definePart<FeedForward, object>({
  kind: 'adding',
  about: 'gives the side input "double"',
  options: { type: 'object' },
  slots: () => [],
  create: (_, { ops }) => ({ state: [], forward: (_x, out, ctx) => ops.copy(ctx.input('double'), out) }),
});
const parts = PartRegistry.of([
  BUILTIN_PARTS,
  TOY,
  definePlugin({ name: 'silent', apiVersion: 1, feedForwards: [silent, adding], inputs: [doubling] }),
]);

/** A plan whose one layer adds nothing: embedding and head are all there is. */
const bare = (change: Partial<ModelPlan> = {}, kind = 'silent'): ModelPlan => ({
  ...toyPlan(),
  layers: [
    {
      block: { kind: 'residual', options: {} },
      ops: [
        { name: 'ffn', axis: 'ffn', kind, options: {}, norm: {}, residual: { scale: 1, keep: 1, from: 'previous' } },
      ],
    },
  ],
  schedule: [{ layer: 0, state: 0 }],
  finalNorm: null,
  ...change,
});

const build = (plan: ModelPlan, from = parts): Model => {
  const slots = planSlots(plan, from);
  const ops = createReferenceOps({ kvCacheDtype: 'f32' });
  return new Model({ plan, slots, weights: toyWeights(slots), parts: from, ops, quant: null });
};

const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0);

const apply = (rows: number[][], x: readonly number[], bias?: readonly number[]): number[] =>
  rows.map((row, index) => dot(row, x) + (bias?.[index] ?? 0));

const IDS = [3, 7, 3, 30];
const NEAR = 1e-5;

const logitsOf = async (plan: ModelPlan): Promise<number[]> => fresh(build(plan), IDS);

describe('the embedding', () => {
  const tokens = rowsOf(bare(), 'embedding.tokens.weight');
  const head = rowsOf(bare(), 'head.weight');

  it('scales the rows of its table', async () => {
    const plan = bare({ embedding: { ...bare().embedding, scale: 3 } });
    const expected = IDS.flatMap((id) =>
      apply(
        head,
        tokens[id]!.map((x) => 3 * x),
      ),
    );
    expect(distance(await logitsOf(plan), expected)).toBeLessThan(NEAR);
  });

  it('adds learned positions, from the offset on', async () => {
    const plan = bare({ embedding: { ...bare().embedding, positions: { kind: 'learned', count: 9, offset: 2 } } });
    const positions = rowsOf(plan, 'embedding.positions.weight');
    const expected = IDS.flatMap((id, at) =>
      apply(
        head,
        tokens[id]!.map((x, c) => x + positions[at + 2]![c]!),
      ),
    );
    expect(distance(await logitsOf(plan), expected)).toBeLessThan(NEAR);
    expect(build(plan).contextLength).toBe(7);
    await expect(fresh(build(plan), idsOf(8))).rejects.toMatchObject({ code: 'KVAD_E_CONTEXT' });
  });

  it('projects, then adds sinusoids, then normalises', async () => {
    const positions = { kind: 'sinusoidal', offset: 2, layout: 'halves' } as const;
    const norm = { ...layerNorm(1e-5), weight: false, bias: false };
    const plan = bare({ embedding: { size: 6, scale: 0.5, positions, norm, project: { bias: true } } });
    const [small, project, [bias]] = ['tokens.weight', 'project.weight', 'project.bias'].map((name) =>
      rowsOf(plan, `embedding.${name}`),
    ) as [number[][], number[][], [number[]]];
    const waves = sinusoids(
      positions,
      { rows: 4, segments: [{ sequence: 0, start: 0, length: 4, position: 0 }] },
      HIDDEN,
    );
    const expected = IDS.flatMap((id, at) => {
      const x = apply(
        project,
        small[id]!.map((value) => value / 2),
        bias,
      ).map((value, c) => value + waves[at * HIDDEN + c]!);
      const mean = dot(
        x,
        x.map(() => 1 / HIDDEN),
      );
      const deviation = Math.sqrt(
        dot(
          x.map((value) => (value - mean) ** 2),
          x.map(() => 1 / HIDDEN),
        ) + 1e-5,
      );
      return apply(
        head,
        x.map((value) => (value - mean) / deviation),
      );
    });
    expect(distance(await logitsOf(plan), expected)).toBeLessThan(1e-4);
  });

  it('has sinusoids of both published layouts', () => {
    const batch = {
      rows: 3,
      segments: [
        { sequence: 0, start: 0, length: 1, position: 9 },
        { sequence: 1, start: 1, length: 2, position: 4 },
      ],
    };
    const positions = [9, 4, 5];
    const halves = sinusoids({ kind: 'sinusoidal', offset: 2, layout: 'halves' }, batch, 7);
    const turned = sinusoids({ kind: 'sinusoidal', offset: 0, layout: 'interleaved' }, batch, 6);
    const wanted = positions.flatMap((p) =>
      [Math.sin, Math.cos].flatMap((f) => [0, 1, 2].map((j) => f((p + 2) * 10000 ** (-j / 2)))).concat(0),
    );
    const interleaved = positions.flatMap((p) =>
      [0, 1, 2].flatMap((j) => [Math.sin, Math.cos].map((f) => f(p * 10000 ** (-j / 3)))),
    );
    expect(distance([...halves], wanted)).toBeLessThan(NEAR);
    expect(distance([...turned], interleaved)).toBeLessThan(NEAR);
  });
});

describe('the head', () => {
  const tokens = rowsOf(bare(), 'embedding.tokens.weight');

  it('adds its bias, scales, and caps', async () => {
    const plan = bare({ head: { ...bare().head, bias: true, logitScale: 4, softcap: 2 } });
    const [bias] = rowsOf(plan, 'head.bias') as [number[]];
    const expected = IDS.flatMap((id) =>
      apply(rowsOf(plan, 'head.weight'), tokens[id]!, bias).map((logit) => 2 * Math.tanh((4 * logit) / 2)),
    );
    expect(distance(await logitsOf(plan), expected)).toBeLessThan(NEAR);
  });

  it('runs the steps before it in order', async () => {
    const before: ModelPlan['head']['before'] = [
      { axis: 'linear', kind: 'linear', options: { size: 5, bias: true } },
      { axis: 'activation', kind: 'relu', options: {} },
      { axis: 'ffn', kind: 'silent', options: {} },
    ];
    const plan = bare({ head: { ...bare().head, before: before.slice(0, 2) } });
    const dense = rowsOf(plan, 'head.before.0.weight');
    const [bias] = rowsOf(plan, 'head.before.0.bias') as [number[]];
    const head = rowsOf(plan, 'head.weight');
    const expected = IDS.flatMap((id) =>
      apply(
        head,
        apply(dense, tokens[id]!, bias).map((x) => Math.max(0, x)),
      ),
    );
    expect(distance(await logitsOf(plan), expected)).toBeLessThan(NEAR);
    const silenced = await logitsOf(bare({ head: { ...bare().head, before } }));
    expect(silenced).toEqual(Array(IDS.length * VOCAB).fill(0));
  });

  it('refuses an ffn step that looks at a layer', async () => {
    const before: ModelPlan['head']['before'] = [{ axis: 'ffn', kind: 'adding', options: {} }];
    await expect(logitsOf(bare({ head: { ...bare().head, before } }))).rejects.toThrow(
      'an ffn before the head has no context.input',
    );
  });

  it('gives the rows that are wanted of each sequence, of many rows as of few', () => {
    const model = toyModel();
    const ids = idsOf(150);
    const rows = (logits: 'none' | 'last' | 'all', count: number) => {
      return { ids: ids.slice(0, count), position: 0, finalLength: count, states: model.states(), logits };
    };
    const [all, none, last, one] = model.forward([rows('all', 150), rows('none', 9), rows('last', 40), rows('all', 1)]);
    expect([all, none, last, one].map((logits) => logits!.length / VOCAB)).toEqual([150, 0, 1, 1]);
    expect(distance([...last!], [...all!.subarray(39 * VOCAB, 40 * VOCAB)])).toBeLessThan(NEAR);
    expect(distance([...one!], [...all!.subarray(0, VOCAB)])).toBeLessThan(NEAR);
  });
});

describe('side inputs', () => {
  it('are made of the embedding once, and seen by the layers', async () => {
    const plan = bare({ inputs: [{ name: 'double', kind: 'doubling', options: {} }] }, 'adding');
    const tokens = rowsOf(plan, 'embedding.tokens.weight');
    const head = rowsOf(plan, 'head.weight');
    const expected = IDS.flatMap((id) =>
      apply(
        head,
        tokens[id]!.map((x) => 3 * x),
      ),
    );
    expect(distance(await logitsOf(plan), expected)).toBeLessThan(NEAR);
  });

  it('that the plan does not name are refused', async () => {
    await expect(logitsOf(bare({}, 'adding'))).rejects.toThrow('the side input "double" is not there');
  });
});

it('a stack makes the residual of the embedding, sees each visit, and makes the result of it', async () => {
  const visits: number[] = [];
  const plan = { ...toyPlan(), stack: { kind: 'louder', options: {} } };
  const louder = definePart<Stack, object>({
    kind: 'louder',
    about: 'negates the embedding, and the result again',
    options: { type: 'object' },
    slots: () => [],
    create: (_, { dims, ops }) => {
      const negated = (x: Tensor): Tensor => {
        const out = ops.tensor(x.rows, x.cols);
        ops.scale(x, out, -1);
        return out;
      };
      return { width: dims.hiddenSize, enter: negated, before: (visit) => void visits.push(visit), leave: negated };
    },
  });
  const stacked = PartRegistry.of([
    BUILTIN_PARTS,
    TOY,
    definePlugin({ name: 'louder', apiVersion: 1, stacks: [louder] }),
  ]);
  const opposite = toyPlan();
  const logits = async (one: ModelPlan) => fresh(build(one, stacked), IDS);
  const embedding = { ...opposite.embedding, scale: -1 };
  const head = { ...opposite.head, logitScale: -1 };
  expect(distance(await logits(plan), await logits({ ...opposite, embedding, head }))).toBeLessThan(NEAR);
  expect(visits).toEqual([0, 1, 2]);
});

describe('the schedule', () => {
  it('visits a layer again with a state of its own', async () => {
    const plan = toyPlan({ mixers: ['toy-attention', 'toy-memory'] });
    const looped = { ...plan, schedule: [0, 1, 0, 1].map((layer, state) => ({ layer, state })) } as ModelPlan;
    const model = toyModel(looped);
    expect(model.stateSlots.map(({ visit, spec }) => `${visit} ${spec.name}`)).toEqual([
      '0 keys',
      '0 values',
      '1 memory',
      '2 keys',
      '2 values',
      '3 memory',
    ]);
    const whole = await fresh(model, idsOf(20));
    expect(distance(await new ToySequence(model).append(idsOf(20), 3), whole)).toBeLessThan(NEAR);
    expect(distance(whole, await fresh(toyModel(plan), idsOf(20)))).toBeGreaterThan(1e-2);
  });

  it.each([
    [[{ layer: 4, state: 0 }], "visit 0 of the plan's schedule names layer 4, which is absent"],
    [
      [
        { layer: 0, state: 0 },
        { layer: 0, state: 0 },
      ],
      "visit 1 of the plan's schedule has state 0, which an earlier visit has",
    ],
  ])('is refused: %j', (schedule, message) => {
    expect(() => toyModel({ ...toyPlan(), schedule: schedule as ModelPlan['schedule'] })).toThrow(message);
  });
});

it('what a part asks for and the plan does not have is the error of its plugin', async () => {
  const plan = toyPlan({ rope: { type: 'default', theta: 10, dims: 4 } });
  await expect(fresh(toyModel({ ...plan, ropeTables: {} }), IDS)).rejects.toMatchObject({
    code: 'KVAD_E_PLUGIN',
    params: {
      plugin: 'that brings the mixer "toy-attention"',
      reason: 'the plan has no rope table "main"; it has: none',
    },
  });
});
