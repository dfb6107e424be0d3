import {
  BUILTIN_PARTS,
  definePart,
  definePlugin,
  PartRegistry,
  planSlots,
  type FeedForward,
  type ModelPlan,
} from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { createNativeOps } from '../../../core/dist/kernels/native/index.js';
import { Model } from '../../../core/dist/runtime/model.js';
import { Scheduler } from '../../../core/dist/runtime/scheduler.js';
import { Sequence } from '../../../core/dist/runtime/sequence.js';
import { BOTH, distance, idsOf, TOY, toyPlan, toyWeights } from '../runtime/toy.js';

type Fault = 'none' | 'throws' | 'wrong' | 'wrong, throws' | 'host, throws';

/** What the part below does in the next forward. */
let fault: Fault = 'none';

const faulty = definePart<FeedForward, object>({
  kind: 'faulty',
  about: 'gives its input, unless it is told to fail',
  options: { type: 'object' },
  slots: () => [],
  create: (_, { ops }) => ({
    state: [],
    forward: (x, out) => {
      ops.copy(x, out);
      if (fault.startsWith('wrong')) ops.copy(ops.tensor(x.rows + 1, x.cols), out);
      if (fault.startsWith('host')) ops.host(out);
      // more than are started together, so that some are under way
      for (let i = 0; i < 30 && fault !== 'none'; i++) ops.scale(out, out, 1.5);
      if (fault.endsWith('throws')) throw new Error('the part failed');
    },
  }),
});
const parts = PartRegistry.of([
  BUILTIN_PARTS,
  TOY,
  definePlugin({ name: 'faulty', apiVersion: 1, feedForwards: [faulty] }),
]);

/** The toy model, with that part in the middle layer. */
const plan = (): ModelPlan => {
  const toy = toyPlan({ mixers: BOTH });
  const layers = toy.layers.map((layer, index) => ({
    ...layer,
    ops: layer.ops.map((op) => (index === 1 && op.axis === 'ffn' ? { ...op, kind: 'faulty', options: {} } : op)),
  }));
  return { ...toy, layers };
};

const IDS = idsOf(6);

describe.runIf(loadAddon() !== null).each([1, 2, 4])('a forward that fails, on %i threads', (threads) => {
  const withModel = async (act: (model: Model, scheduler: Scheduler) => Promise<void>): Promise<void> => {
    const ops = createNativeOps({ threads, kernels: null, kvCacheDtype: 'f32', dequantise: false })!;
    const slots = planSlots(plan(), parts);
    const model = new Model({ plan: plan(), slots, weights: toyWeights(slots), parts, ops, quant: null });
    try {
      await act(model, new Scheduler(model, 512));
    } finally {
      fault = 'none';
      ops.dispose();
    }
  };
  const step = async (scheduler: Scheduler, sequence: Sequence, ids: number[], logits: 'none' | 'last' = 'last') => [
    ...(await scheduler.run({ sequence, ids, finalLength: sequence.length + ids.length, logits })),
  ];

  it.each<[Fault, 'none' | 'last']>([
    ['throws', 'last'],
    ['wrong', 'last'],
    ['wrong', 'none'],
    ['wrong, throws', 'last'],
    ['wrong, throws', 'none'],
    ['host, throws', 'last'],
  ])('leaves its sequence empty and others as they were: a part that %s, %s logits wanted', (how, logits) =>
    withModel(async (model, scheduler) => {
      const expected = await step(scheduler, new Sequence(model), IDS);
      const [failing, other] = [new Sequence(model), new Sequence(model)];
      await step(scheduler, failing, IDS.slice(0, 3));
      await step(scheduler, other, IDS.slice(0, 3));
      fault = how;
      const message = how.endsWith('throws') ? /the part failed/ : /refused/;
      await expect(step(scheduler, failing, IDS.slice(3), logits)).rejects.toThrow(message);
      fault = 'none';
      expect(failing.length).toBe(0);
      expect(distance(await step(scheduler, other, IDS.slice(3)), expected)).toBeLessThan(1e-4);
      expect(await step(scheduler, failing, IDS)).toEqual(expected);
    }),
  );
});
