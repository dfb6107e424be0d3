import type { GenerateEvent, GenerateOptions, Prompt } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { generate } from '../../../core/dist/runtime/generate.js';
import { fakeText, likeliest, logSoftmax, spell, type FakeTextChoice } from './fake-text.js';
import { distance, fresh, idsOf, toyModel, toyPlan, ToySequence, VOCAB, type ToyChoice } from './toy.js';

const GREEDY = { temperature: 0 } as const;

const newGenerator = (text: FakeTextChoice = {}, toy: ToyChoice = {}) => {
  const { model, scheduler, sequence } = new ToySequence(toyModel(toyPlan(toy)));
  return { directory: 'somewhere', model, text: fakeText(text), scheduler, sequence, chunk: 4 };
};
type Generator = ReturnType<typeof newGenerator>;

const collect = async (generator: Generator, prompt: Prompt, options: GenerateOptions = {}) => {
  const events: GenerateEvent[] = [];
  for await (const event of generate(generator, prompt, options)) events.push(event);
  return told(events);
};

const told = (events: readonly GenerateEvent[]) => {
  const tokens = events.flatMap((event) => (event.type === 'token' ? [event] : []));
  const [start, end] = [events[0], events.at(-1)];
  if (start?.type !== 'prompt' || end?.type !== 'end') throw new Error('no prompt first, or no end last');
  return {
    tokens,
    ids: tokens.filter(({ echo }) => !echo).map(({ id }) => id),
    text: tokens.map(({ text }) => text).join('') + end.text,
    reused: start.reused,
    reason: end.reason,
    stats: end.stats,
  };
};

/** The greedy continuation, each step a fresh computation of all ids. */
const greedily = async (generator: Generator, prompt: readonly number[], count: number): Promise<number[]> => {
  const ids = [...prompt];
  while (ids.length < prompt.length + count) {
    const last = (await fresh(generator.model, ids)).slice(-VOCAB);
    ids.push(last.indexOf(Math.max(...last)));
  }
  return ids.slice(prompt.length);
};

const PROMPT = idsOf(9);

describe('a greedy generation', () => {
  it('is the tokens that computing everything again at each step gives', async () => {
    const generator = newGenerator();
    const { ids, text, reason, stats } = await collect(generator, { ids: PROMPT }, { ...GREEDY, maxTokens: 12 });
    expect(ids).toEqual(await greedily(generator, PROMPT, 12));
    expect(text).toBe(spell(ids));
    expect(reason).toBe('length');
    expect(stats).toMatchObject({ promptTokens: 9, reusedTokens: 0, generatedTokens: 12 });
    expect(generator.sequence.ids).toEqual([...PROMPT, ...ids.slice(0, -1)]);
  });

  it('of a text, of a conversation and of ids is the same for the same ids', async () => {
    const options = { ...GREEDY, maxTokens: 5 };
    const ofIds = await collect(newGenerator(), { ids: [20, 7, 8] }, options);
    const ofText = await collect(newGenerator(), { text: 'uhi' }, options);
    const messages = [{ role: 'user', content: 'hi' }];
    const ofMessages = await collect(newGenerator({ template: true }), { messages }, options);
    expect([ofText.ids, ofMessages.ids]).toEqual([ofIds.ids, ofIds.ids]);
  });
});

describe('the end of a generation', () => {
  it('is before a token that ends texts, which is neither given nor counted', async () => {
    const all = (await collect(newGenerator(), { ids: PROMPT }, { ...GREEDY, maxTokens: 12 })).ids;
    const ends = [all[4]!];
    const first = all.indexOf(all[4]!);
    const { ids, reason, stats } = await collect(newGenerator({ ends }), { ids: PROMPT }, { ...GREEDY, maxTokens: 12 });
    expect(ids).toEqual(all.slice(0, first));
    expect([reason, stats.generatedTokens]).toEqual(['stop', first]);
  });

  it('is before a stop string, however the text is cut into pieces', async () => {
    const whole = (await collect(newGenerator(), { ids: PROMPT }, { ...GREEDY, maxTokens: 12 })).text;
    const stop = whole.slice(5, 8);
    // Divisors of the prompt's length: nothing of it is held back when the answer begins.
    for (const together of [1, 3, 9]) {
      const options = { ...GREEDY, maxTokens: 12, stop: [stop] };
      const { text, reason } = await collect(newGenerator({ together }), { ids: PROMPT }, options);
      expect(text).toBe(whole.slice(0, whole.indexOf(stop)));
      expect(reason).toBe('stop-string');
    }
  });

  it('gives what was held back for a stop string that did not come', async () => {
    const whole = (await collect(newGenerator(), { ids: PROMPT }, { ...GREEDY, maxTokens: 6 })).text;
    const options = { ...GREEDY, maxTokens: 6, stop: [`${whole.slice(3)}x`] };
    const { text, reason } = await collect(newGenerator(), { ids: PROMPT }, options);
    expect([text, reason]).toEqual([whole, 'length']);
  });

  it('is the context: the last token that fits is still followed by one', async () => {
    const { ids, reason } = await collect(newGenerator({}, { contextLength: 11 }), { ids: PROMPT }, GREEDY);
    expect([ids.length, reason]).toEqual([3, 'context']);
  });

  it('is at once for no tokens at all', async () => {
    const generator = newGenerator();
    const { ids, reason } = await collect(generator, { ids: PROMPT }, { maxTokens: 0 });
    expect([ids, reason, generator.sequence.length]).toEqual([[], 'length', PROMPT.length]);
  });

  it('is within one step of an abort', async () => {
    const generator = newGenerator();
    const controller = new AbortController();
    const events: GenerateEvent[] = [];
    for await (const event of generate(generator, { ids: PROMPT }, { ...GREEDY, signal: controller.signal })) {
      events.push(event);
      if (events.length === 4) controller.abort();
    }
    const { ids, reason } = told(events);
    expect(ids.length).toBeLessThanOrEqual(4);
    expect(reason).toBe('aborted');
  });

  it('is an abort within the prompt too', async () => {
    const generator = newGenerator();
    const controller = new AbortController();
    setImmediate(() => controller.abort());
    const { ids, reason } = await collect(generator, { ids: idsOf(60) }, { signal: controller.signal });
    expect([ids, reason]).toEqual([[], 'aborted']);
    expect(generator.sequence.length).toBeLessThan(60);
  });

  it('of a reader that stops leaves the sequence usable', async () => {
    const generator = newGenerator();
    for await (const event of generate(generator, { ids: PROMPT }, GREEDY)) if (event.type === 'token') break;
    const { ids } = await collect(generator, { ids: PROMPT }, { ...GREEDY, maxTokens: 4 });
    expect(ids).toEqual(await greedily(generator, PROMPT, 4));
  });
});

describe('what is reused', () => {
  const attention = { mixers: ['toy-attention'] } as const;

  it('is the common prefix, but for one token', async () => {
    const generator = newGenerator({}, attention);
    await collect(generator, { ids: PROMPT }, { maxTokens: 3 });
    expect((await collect(generator, { ids: PROMPT }, { maxTokens: 3 })).reused).toBe(8);
    expect((await collect(generator, { ids: [...PROMPT.slice(0, 5), 30, 30] }, { maxTokens: 3 })).reused).toBe(5);
    expect((await collect(generator, { ids: [31, ...PROMPT] }, { maxTokens: 3 })).reused).toBe(0);
  });

  it('is, where states cannot be cut, what a checkpoint holds: before the end of the prompt, and at ends of turns', async () => {
    const generator = newGenerator({}, { mixers: ['toy-memory'] });
    const { ids } = await collect(generator, { ids: PROMPT }, { ...GREEDY, maxTokens: 3 });
    expect((await collect(generator, { ids: PROMPT }, { ...GREEDY, maxTokens: 3 })).reused).toBe(8);
    const next = [...PROMPT, ...ids, 4, 5];
    const second = await collect(generator, { ids: next }, { ...GREEDY, maxTokens: 5 });
    expect(second.reused).toBe(11);
    expect(second.ids).toEqual(await greedily(generator, next, 5));
  });

  it('changes nothing of the answer', async () => {
    const generator = newGenerator();
    for (const prompt of [idsOf(20, 1), idsOf(12, 1), [...idsOf(10, 1), 3, 4], idsOf(25, 2)]) {
      const { ids } = await collect(generator, { ids: prompt }, { ...GREEDY, maxTokens: 4 });
      expect(ids).toEqual(await greedily(generator, prompt, 4));
    }
  });

  it('is nothing where angles follow the length, or were others', async () => {
    const dynamic = { type: 'dynamic', theta: 100, dims: 4, factor: 2, originalContext: 8, alpha: null } as const;
    const generator = newGenerator({}, { ...attention, rope: dynamic });
    for (const length of [9, 9, 14]) {
      const prompt = idsOf(length);
      const { ids, reused } = await collect(generator, { ids: prompt }, { ...GREEDY, maxTokens: 1 });
      expect([reused, ids]).toEqual([0, await greedily(generator, prompt, 1)]);
    }
  });
});

describe('log-probabilities', () => {
  it('are those of the raw logits, with the likeliest tokens', async () => {
    const generator = newGenerator();
    const options = { seed: 3, temperature: 2, repeatPenalty: 1.5, maxTokens: 5, logprobs: 3 };
    const { tokens, ids } = await collect(generator, { ids: PROMPT }, options);
    const logits = await fresh(generator.model, [...PROMPT, ...ids]);
    tokens.forEach(({ id, logprob, top }, index) => {
      const row = (PROMPT.length - 1 + index) * VOCAB;
      const expected = logSoftmax(logits.slice(row, row + VOCAB));
      expect(logprob).toBeCloseTo(expected[id]!, 5);
      expect(top.map((token) => token.id)).toEqual(likeliest(expected, 3).map((token) => token.id));
    });
  });

  it('come with each echoed token of the prompt but the first', async () => {
    const generator = newGenerator();
    await collect(generator, { ids: PROMPT }, { maxTokens: 2 });
    const { tokens, text, reused } = await collect(
      generator,
      { ids: PROMPT },
      { echo: true, logprobs: 1, maxTokens: 0 },
    );
    expect(tokens.map(({ id }) => id)).toEqual(PROMPT);
    expect([text, reused]).toEqual([spell(PROMPT), 0]);
    expect(tokens[0]).toMatchObject({ logprob: null, top: [] });
    const logits = await fresh(generator.model, PROMPT);
    const expected = PROMPT.slice(1).map((id, row) => logSoftmax(logits.slice(row * VOCAB, (row + 1) * VOCAB))[id]!);
    expect(
      distance(
        tokens.slice(1).map(({ logprob }) => logprob!),
        expected,
      ),
    ).toBeLessThan(1e-5);
  });

  it('are left out where nobody asks', async () => {
    const { tokens } = await collect(newGenerator(), { ids: PROMPT }, { maxTokens: 2, echo: true });
    expect(tokens.map(({ logprob }) => logprob)).toEqual(Array<null>(11).fill(null));
    expect(tokens.map(({ echo }) => echo)).toEqual([...Array<boolean>(9).fill(true), false, false]);
  });
});

describe('sampling', () => {
  const draw = async (options: GenerateOptions, text: FakeTextChoice = {}) =>
    (await collect(newGenerator(text), { ids: PROMPT }, { maxTokens: 20, ...options })).ids;

  it('repeats with its seed, and differs with another', async () => {
    const hot = { temperature: 3, topK: 0 };
    expect(await draw({ ...hot, seed: 5 })).toEqual(await draw({ ...hot, seed: 5 }));
    expect(await draw({ ...hot, seed: 5 })).not.toEqual(await draw({ ...hot, seed: 6 }));
  });

  it("takes the caller's options before the model's, and those before kvad's", async () => {
    const greedy = await draw(GREEDY);
    expect(await draw({}, { sampling: { temperature: 0 } })).toEqual(greedy);
    expect(await draw({ temperature: 3, topK: 0 }, { sampling: { temperature: 0 } })).not.toEqual(greedy);
  });
});

describe('a generation refuses', () => {
  const refused = (prompt: Prompt, options: GenerateOptions = {}, text: FakeTextChoice = {}, toy: ToyChoice = {}) =>
    expect(collect(newGenerator(text, toy), prompt, options)).rejects;

  it.each([
    [{ maxTokens: -1 }, 'maxTokens'],
    [{ maxTokens: 1.5 }, 'maxTokens'],
    [{ logprobs: NaN }, 'logprobs'],
    [{ temperature: -1 }, 'temperature'],
    [{ topP: 0 }, 'topP'],
    [{ stop: ['ab', ''] }, 'stop'],
  ])('the options %j', (options, option) =>
    refused({ ids: PROMPT }, options).toMatchObject({ code: 'KVAD_E_OPTION', params: { option } }),
  );

  it('a prompt without tokens', () => refused({ text: '' }).toMatchObject({ code: 'KVAD_E_PROMPT_EMPTY' }));

  it('a prompt longer than the context', () =>
    refused({ ids: idsOf(12) }, {}, {}, { contextLength: 11 }).toMatchObject({
      code: 'KVAD_E_CONTEXT',
      params: { tokens: 12, contextLength: 11 },
    }));

  it('a token outside of the vocabulary', () =>
    refused({ ids: [1, 99] }).toMatchObject({ code: 'KVAD_E_TOKEN_ID', params: { id: 99, vocabSize: 32 } }));

  it('a conversation with a base model', () =>
    refused({ messages: [] }).toMatchObject({ code: 'KVAD_E_TEMPLATE_MISSING', params: { directory: 'somewhere' } }));

  it('logits that are no numbers', () =>
    refused({ ids: [1, 13] }, {}, {}, { fault: 'nan' }).toMatchObject({ code: 'KVAD_E_NAN' }));

  it('stop strings without a tokenizer', () =>
    refused({ ids: PROMPT }, { stop: ['a'] }, { tokenizer: false }).toMatchObject({
      code: 'KVAD_E_TOKENIZER_MISSING',
    }));
});

it('without a tokenizer ids are continued, and have no text', async () => {
  const { ids, text } = await collect(newGenerator({ tokenizer: false }), { ids: PROMPT }, { ...GREEDY, maxTokens: 3 });
  expect([ids.length, text]).toEqual([3, '']);
});
