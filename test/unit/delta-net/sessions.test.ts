/** Hybrids through the library: what a session keeps of a prompt, goes back to, and computes beside another. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createEngine, type Engine, type LoadedModel, type Session } from 'kvad';
import { fixtureDirectory } from '@kvad/core/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at } from '../../gates/sources.js';

/** Tokens between the checkpoints that a sequence keeps by itself. */
const EVERY = 256;
const VOCAB = 128;
const NEAR = 1e-4;

/** The fixture, allowed to go on for longer than it was made for: its angles do not depend on that. */
const longer = (fixture: string): string => {
  const source = fixtureDirectory(at(`test/fixtures/${fixture}`));
  const folder = mkdtempSync(path.join(tmpdir(), 'kvad-hybrid-'));
  copyFileSync(path.join(source, 'model.safetensors'), path.join(folder, 'model.safetensors'));
  const config = JSON.parse(readFileSync(path.join(source, 'config.json'), 'utf8')) as object;
  writeFileSync(path.join(folder, 'config.json'), JSON.stringify({ ...config, max_position_embeddings: 1024 }));
  return folder;
};

const idsOf = (count: number, seed = 1): number[] =>
  Array.from({ length: count }, (_, i) => 3 + ((Math.imul(i + seed, 2654435761) >>> 8) % (VOCAB - 3)));

const answer = async (session: Session, ids: readonly number[], maxTokens = 6) => {
  const tokens: number[] = [];
  let reused = -1;
  for await (const event of session.generate({ ids }, { temperature: 0, maxTokens })) {
    if (event.type === 'token') tokens.push(event.id);
    if (event.type === 'end') reused = event.stats.reusedTokens;
  }
  return { tokens, reused };
};

/** The largest difference, over the largest value; NaN is the worst. */
const apart = (got: Float32Array, expected: Float32Array): number => {
  expect(got.length).toBe(expected.length);
  const top = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return expected.reduce((most, value, i) => {
    const difference = Math.abs(got[i]! - value) / top;
    return difference <= most ? most : difference;
  }, 0);
};

const FIXTURES = ['delta-net/qwen3_next', 'delta-net/olmo_hybrid'];
const KERNELS = [{}, { KVAD_CPU: 'reference' }];

describe.each(FIXTURES.flatMap((fixture) => KERNELS.map((env) => ({ fixture, env }))))(
  '$fixture in a session, $env',
  ({ fixture, env }) => {
    const folder = longer(fixture);
    const engine: Engine = createEngine({ plugins: [], env });
    let model: LoadedModel;
    beforeAll(async () => {
      model = await engine.load(folder, { kvCacheDtype: 'f32' });
    });
    afterAll(async () => {
      await engine.close();
      rmSync(folder, { recursive: true });
    });

    const fresh = async (ids: readonly number[]): Promise<Float32Array> => {
      const session = await model.session();
      const logits = await session.prefill(ids, { logits: 'all' });
      await session.close();
      return logits;
    };

    it('is the same in chunks of any size, and token by token', async () => {
      const ids = idsOf(150);
      const whole = await fresh(ids);
      for (const chunk of [1, 2, 7, 63, 64, 65, 149]) {
        const session = await model.session();
        expect(apart(await session.prefill(ids, { logits: 'all', chunk }), whole), `chunk ${chunk}`).toBeLessThan(NEAR);
        await session.close();
      }
    });

    it('keeps a conversation: the next turn computes only what is new', async () => {
      const session = await model.session();
      const prompt = idsOf(90);
      const first = await answer(session, prompt);
      expect(first.reused).toBe(0);

      const next = [...prompt, ...first.tokens, ...idsOf(20, 5)];
      const second = await answer(session, next);
      // The last token of an answer was chosen and never run.
      expect(second.reused).toBe(prompt.length + first.tokens.length - 1);

      const alone = await model.session();
      expect(second.tokens).toEqual((await answer(alone, next)).tokens);
      await Promise.all([session.close(), alone.close()]);
    });

    it('asked the same again, computes one token of the prompt', async () => {
      const session = await model.session();
      const prompt = idsOf(90, 3);
      const first = await answer(session, prompt);
      expect(await answer(session, prompt)).toEqual({ tokens: first.tokens, reused: prompt.length - 1 });
      await session.close();
    });

    it('with another ending, goes back to the last checkpoint that both have', async () => {
      const session = await model.session();
      const prompt = idsOf(2 * EVERY + 50, 7);
      await answer(session, prompt);
      const other = [...prompt.slice(0, EVERY + 100), ...idsOf(30, 9)];
      const { tokens, reused } = await answer(session, other);
      expect(reused).toBe(EVERY);
      const alone = await model.session();
      expect(tokens).toEqual((await answer(alone, other)).tokens);
      expect((await answer(session, idsOf(40, 11))).reused).toBe(0);
      await Promise.all([session.close(), alone.close()]);
    });

    it('truncated, says where it landed, and goes on from there as if it had never gone further', async () => {
      const session = await model.session();
      const ids = idsOf(EVERY + 60);
      await session.prefill(ids, { logits: 'none' });
      expect(await session.truncate(EVERY + 20)).toBe(EVERY);
      expect(session.tokens).toEqual(ids.slice(0, EVERY));
      const more = idsOf(10, 4);
      const expected = (await fresh([...ids.slice(0, EVERY), ...more])).subarray(EVERY * VOCAB);
      expect(apart(await session.prefill(more, { logits: 'all' }), expected)).toBeLessThan(NEAR);
      expect(await session.truncate(10)).toBe(0);
      await session.close();
    });

    it('continues identically from a snapshot taken in the middle of a prompt', async () => {
      const session = await model.session();
      const ids = idsOf(120, 6);
      await session.prefill(ids.slice(0, 47), { logits: 'none', chunk: 10 });
      const snapshot = await session.snapshot();
      const once = await session.prefill(ids.slice(47), { logits: 'all' });
      await session.prefill(idsOf(33, 8), { logits: 'none' });
      expect(await session.restore(snapshot)).toBe(47);
      expect(await session.prefill(ids.slice(47), { logits: 'all' })).toEqual(once);
      await session.truncate(0);
      await session.restore(snapshot);
      expect(await session.prefill(ids.slice(47), { logits: 'all' })).toEqual(once);
      await session.close();
    });

    it('computes each of several sessions in one batch as alone', async () => {
      const lengths = [40, 1, 17];
      const prompts = lengths.map((length, i) => idsOf(length, 20 + i));
      const sessions = await Promise.all(prompts.map(() => model.session()));
      await Promise.all(sessions.map((session, i) => session.prefill(prompts[i]!, { logits: 'none' })));
      for (let step = 0; step < 3; step++) {
        const next = lengths.map((_, i) => [idsOf(3, 30 + i)[step]!]);
        const together = await model.step(sessions, next);
        for (const [i, logits] of together.entries()) {
          prompts[i]!.push(...next[i]!);
          expect(apart(logits, (await fresh(prompts[i]!)).slice(-VOCAB))).toBeLessThan(NEAR);
        }
      }
      await Promise.all(sessions.map((session) => session.close()));
    });
  },
);
