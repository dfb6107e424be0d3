/**
 * Small models with the state, the experts and the decays that training leaves, as users run them: through the library,
 * on the fastest arithmetic of this machine.
 */
import { createEngine, type Engine, type LoadedModel, type LoadOptions } from 'kvad';
import { verifyCheckpoint } from '@kvad/core/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, read, readJson } from '../gates/sources.js';
import { claimedFixtures } from './conform.js';

const PROMPT = 'Once upon a time';
const WINDOWS = 8;
/** By how much more than as stored a text may surprise the model that holds its weights in fewer bits. */
const WORSE = { q8: 1.002, q4: 1.03 } as const;

describe.each(claimedFixtures().filter(({ group }) => group === 'trained'))('$name', ({ name }) => {
  const directory = at(`test/fixtures/${name}`);
  const facts = readJson(`test/fixtures/${name}/reference.json`);
  let engine: Engine;
  beforeAll(() => {
    engine = createEngine({ plugins: [], env: {} });
  });
  afterAll(() => engine.close());
  const load = (options: LoadOptions = {}): Promise<LoadedModel> =>
    engine.load(directory, { kvCacheDtype: 'f32', ...options });

  it('gives the logits of the reference at every position', async () => {
    const { positions, maxAbsDiff, tolerance, greedyEqual, error } = await verifyCheckpoint(directory, () => load());
    expect(error).toBeNull();
    expect(positions).toBeGreaterThanOrEqual(400);
    expect(maxAbsDiff).toBeLessThanOrEqual(tolerance!);
    expect(greedyEqual).toBe(true);
  });

  it('tells the story that the reference tells', async () => {
    await using model = await load();
    const session = await model.session();
    let story = '';
    for await (const event of session.generate({ text: PROMPT }, { temperature: 0, maxTokens: 40 }))
      if (event.type !== 'prompt') story += event.text;
    expect(story).toBe(facts['greedy_text']);
  });

  it('is hardly more surprised by a text that it has not seen, at 8 and at 4 bits', async () => {
    const input = { text: read('test/fixtures/bundled/sample-heldout.txt') };
    const perplexity = async (quant: LoadOptions['quant'] = null): Promise<number> => {
      await using model = await load({ quant });
      return (await model.perplexity({ input, chunks: WINDOWS })).perplexity!;
    };
    const stored = await perplexity();
    expect(stored).toBeLessThan(2.5);
    for (const [quant, worse] of Object.entries(WORSE))
      expect((await perplexity(quant as keyof typeof WORSE)) / stored, quant).toBeLessThan(worse);
  });
});
