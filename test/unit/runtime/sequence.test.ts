import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prefill } from '../../../core/dist/runtime/prefill.js';
import { commonPrefix } from '../../../core/dist/runtime/sequence.js';
import { Scheduler } from '../../../core/dist/runtime/scheduler.js';
import { distance, fresh, idsOf, toyModel, toyPlan, ToySequence, VOCAB, type ToyChoice } from './toy.js';

const NEAR = 1e-5;

describe.each<[string, ToyChoice['mixers']]>([
  ['attention', ['toy-attention', 'toy-attention']],
  ['memory', ['toy-memory', 'toy-memory']],
  ['both', undefined],
])('a sequence of %s', (_, mixers) => {
  const model = toyModel(toyPlan(mixers ? { mixers } : {}));
  const ids = idsOf(40);

  it.each([1, 3, 7, 64])('is the same whole and in chunks of %i', async (chunk) => {
    const chunked = await new ToySequence(model).append(ids, chunk);
    expect(distance(chunked, await fresh(model, ids))).toBeLessThan(NEAR);
  });

  it('is the same whole and in calls of a few tokens', async () => {
    const sequence = new ToySequence(model);
    const parts = [ids.slice(0, 5), ids.slice(5, 6), ids.slice(6, 30), ids.slice(30)];
    const logits: number[] = [];
    for (const part of parts) logits.push(...(await sequence.append(part)));
    expect(distance(logits, await fresh(model, ids))).toBeLessThan(NEAR);
  });

  it('goes on after a truncation as if it had never gone further', async () => {
    const sequence = new ToySequence(model);
    await sequence.append(ids);
    const landed = sequence.sequence.truncate(21);
    expect(landed).toBe(mixers?.[0] === 'toy-attention' ? 21 : 16);
    expect(sequence.sequence.ids).toEqual(ids.slice(0, landed));
    const other = idsOf(12, 3);
    const logits = await sequence.append(other);
    const expected = await fresh(model, [...ids.slice(0, landed), ...other]);
    expect(distance(logits, expected.slice(landed * VOCAB))).toBeLessThan(NEAR);
  });

  it('returns to a snapshot, from further on and from elsewhere', async () => {
    const sequence = new ToySequence(model);
    await sequence.append(ids.slice(0, 11));
    const snapshot = sequence.sequence.snapshot();
    const expected = (await fresh(model, ids.slice(0, 20))).slice(11 * VOCAB);
    await sequence.append(idsOf(9, 4));
    sequence.sequence.restore(snapshot);
    expect(distance(await sequence.append(ids.slice(11, 20)), expected)).toBeLessThan(NEAR);
    sequence.sequence.truncate(0);
    await sequence.append(idsOf(30, 9));
    sequence.sequence.restore(snapshot);
    expect(sequence.sequence.ids).toEqual(ids.slice(0, 11));
    expect(distance(await sequence.append(ids.slice(11, 20)), expected)).toBeLessThan(NEAR);
  });

  it('is the same in a batch with others and alone', async () => {
    const scheduler = new Scheduler(model, 512);
    const lists = [idsOf(17, 1), idsOf(1, 2), idsOf(9, 3)];
    const together = await Promise.all(lists.map((list) => new ToySequence(model, scheduler).append(list)));
    for (const [index, list] of lists.entries()) {
      expect(distance(together[index]!, await fresh(model, list))).toBeLessThan(NEAR);
    }
  });

  it('agrees with a fresh one after any appends, truncations, snapshots and restores', async () => {
    const append = fc.record({
      do: fc.constant('append' as const),
      n: fc.integer({ min: 1, max: 9 }),
      seed: fc.nat(20),
    });
    const truncate = fc.record({ do: fc.constant('truncate' as const), n: fc.nat(30) });
    const snapshot = fc.record({ do: fc.constant('snapshot' as const) });
    const restore = fc.record({ do: fc.constant('restore' as const) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(append, append, truncate, snapshot, restore), { maxLength: 12 }),
        async (steps) => {
          const toy = new ToySequence(model);
          let held: number[] = [];
          let saved = { ids: held, snapshot: toy.sequence.snapshot() };
          for (const step of steps) {
            if (step.do === 'append') {
              const ids = idsOf(step.n, step.seed);
              await toy.append(ids, 4);
              held = [...held, ...ids];
            } else if (step.do === 'truncate') {
              const landed = toy.sequence.truncate(step.n);
              expect(landed).toBeLessThanOrEqual(Math.max(0, Math.min(step.n, held.length)));
              held = held.slice(0, landed);
            } else if (step.do === 'snapshot') {
              saved = { ids: held, snapshot: toy.sequence.snapshot() };
            } else {
              toy.sequence.restore(saved.snapshot);
              held = saved.ids;
            }
            expect(toy.sequence.ids).toEqual(held);
          }
          const last = await toy.append([5]);
          const expected = (await fresh(model, [...held, 5])).slice(-VOCAB);
          expect(distance(last, expected)).toBeLessThan(NEAR);
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('rope tables that change with the length', () => {
  const factors = { shortFactor: [1, 1], longFactor: [2, 3], shortScale: 1, longScale: 1.2 };
  const rope = { type: 'longrope', theta: 100, dims: 4, originalContext: 12, ...factors } as const;
  const model = toyModel(toyPlan({ rope, mixers: ['toy-attention', 'toy-memory'] }));
  const ids = idsOf(20);

  it('are those of the end of the call for all of its chunks', async () => {
    const whole = await fresh(model, ids);
    expect(distance(await new ToySequence(model).append(ids, 3), whole)).toBeLessThan(NEAR);
  });

  it('make a sequence compute all again when it crosses the original context, and when it comes back', async () => {
    const sequence = new ToySequence(model);
    await sequence.append(ids.slice(0, 12));
    const crossed = await sequence.append(ids.slice(12, 14));
    expect(crossed).toHaveLength(2 * VOCAB);
    expect(distance(crossed, (await fresh(model, ids.slice(0, 14))).slice(12 * VOCAB))).toBeLessThan(NEAR);
    sequence.sequence.truncate(8);
    const back = await sequence.append([3]);
    expect(distance(back, (await fresh(model, [...ids.slice(0, 8), 3])).slice(8 * VOCAB))).toBeLessThan(NEAR);
  });

  it('leave no checkpoint behind that was made with the others', async () => {
    const sequence = new ToySequence(model);
    await sequence.append(ids.slice(0, 11));
    const snapshot = sequence.sequence.snapshot();
    await sequence.append(ids.slice(11, 14));
    sequence.sequence.restore(snapshot);
    const landed = sequence.sequence.truncate(9);
    const after = await sequence.append([3]);
    const expected = await fresh(model, [...ids.slice(0, landed), 3]);
    expect(distance(after, expected.slice(landed * VOCAB))).toBeLessThan(NEAR);
  });

  it('differ on both sides of the original context', async () => {
    const at = async (length: number) => (await fresh(model, ids.slice(0, length))).slice(0, VOCAB * 5);
    expect(distance(await at(12), await at(11))).toBe(0);
    expect(distance(await at(12), await at(13))).toBeGreaterThan(1e-3);
  });
});

describe('what a sequence refuses', () => {
  const model = toyModel(toyPlan({ contextLength: 16 }));

  it('more tokens than the context, with both numbers, before anything is computed', async () => {
    const sequence = new ToySequence(model);
    await sequence.append(idsOf(10));
    await expect(sequence.append(idsOf(7))).rejects.toMatchObject({
      code: 'KVAD_E_CONTEXT',
      params: { tokens: 17, contextLength: 16 },
    });
    expect(sequence.sequence.length).toBe(10);
    expect(await sequence.append(idsOf(6))).toHaveLength(6 * VOCAB);
  });

  it.each([[-1], [VOCAB], [1.5], [NaN]])('the token id %d', async (id) => {
    const sequence = new ToySequence(model);
    await expect(sequence.append([1, id])).rejects.toMatchObject({ code: 'KVAD_E_TOKEN_ID', params: { id } });
    expect(sequence.sequence.length).toBe(0);
  });

  it('nothing: no ids are no rows', async () => {
    expect(await new ToySequence(model).append([])).toEqual([]);
  });
});

it('an error in a forward leaves its sequences at the start, and others as they were', async () => {
  const model = toyModel(toyPlan({ fault: 'throw' }));
  const scheduler = new Scheduler(model, 512);
  const [good, bad] = [new ToySequence(model, scheduler), new ToySequence(model, scheduler)];
  await good.append(idsOf(5));
  await bad.append(idsOf(5));
  await expect(bad.append([13])).rejects.toMatchObject({
    code: 'KVAD_E_PLUGIN',
    params: { plugin: 'that brings the ffn "toy-ffn"', reason: 'unlucky token' },
  });
  expect([good.sequence.length, bad.sequence.length]).toEqual([5, 0]);
  const ids = idsOf(9, 2);
  expect(distance(await bad.append(ids), await fresh(model, ids))).toBeLessThan(NEAR);
});

it('an abort is seen between two chunks: those that were done stay', async () => {
  const model = toyModel();
  const toy = new ToySequence(model);
  const controller = new AbortController();
  const ids = idsOf(30);
  const run = async () => {
    const options = { chunk: 5, logits: 'all', signal: controller.signal } as const;
    for await (const _ of prefill(model, toy.scheduler, toy.sequence, ids, options)) {
      if (toy.sequence.length >= 10) controller.abort(new Error('enough'));
    }
  };
  await expect(run()).rejects.toThrow('enough');
  // Chunks of 5, 3 (a checkpoint is due at 8) and 5.
  expect(toy.sequence.ids).toEqual(ids.slice(0, 13));
});

it('a common prefix ends at the first difference or the shorter list', () => {
  expect(commonPrefix([1, 2, 3], [1, 2, 4, 5])).toBe(2);
  expect(commonPrefix([1, 2], [1, 2, 3])).toBe(2);
  expect(commonPrefix([], [1])).toBe(0);
});
