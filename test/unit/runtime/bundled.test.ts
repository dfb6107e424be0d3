import { readFileSync } from 'node:fs';
import { createEngine, type ChatMessage, type GenerateEvent, type LoadedModel } from 'kvad';
import { afterAll, beforeAll, expect, it } from 'vitest';

interface Reference {
  readonly short_prompt: string;
  readonly short_ids: number[];
  readonly greedy_ids: number[];
  readonly greedy_text: string;
}
const file = new URL('../../fixtures/bundled/reference.json', import.meta.url);
const reference = JSON.parse(readFileSync(file, 'utf8')) as Reference;

const engine = createEngine({ env: {} });
let model: LoadedModel;
beforeAll(async () => {
  model = await engine.load(null, { quant: 'f32', kvCacheDtype: 'f32' });
});
afterAll(() => engine.close());

const told = async (events: AsyncIterable<GenerateEvent>) => {
  const ids: number[] = [];
  let text = '';
  let prompt: readonly number[] = [];
  for await (const event of events) {
    if (event.type === 'prompt') prompt = event.ids;
    else text += event.text;
    if (event.type === 'token') ids.push(event.id);
    if (event.type === 'end') return { ids, text, prompt, reason: event.reason, stats: event.stats };
  }
  throw new Error('the generation did not end');
};

it('continues a raw text as its reference does', async () => {
  const { short_prompt, short_ids, greedy_ids, greedy_text } = reference;
  const session = await model.session();
  const options = { temperature: 0, maxTokens: greedy_ids.length };
  const { prompt, ids, text } = await told(session.generate({ text: short_prompt }, options));
  expect(prompt).toEqual(short_ids);
  expect(ids).toEqual(greedy_ids);
  expect(text).toBe(greedy_text);
  expect(await model.decode(ids, { skipSpecial: true })).toBe(greedy_text);
});

it('holds a conversation: the second turn computes only what is new, and answers as if it had computed all', async () => {
  const session = await model.session();
  const options = { temperature: 0, maxTokens: 200 };
  const messages: ChatMessage[] = [{ role: 'user', content: 'Tell me a story about a fox' }];
  const first = await told(session.generate({ messages }, options));
  expect(first.reason).toBe('stop');
  const rendered = await model.render(messages, { addGenerationPrompt: true });
  expect(await model.encode(rendered, { special: false })).toEqual(first.prompt);

  messages.push({ role: 'assistant', content: first.text }, { role: 'user', content: 'Another one, please' });
  const second = await told(session.generate({ messages }, { ...options, maxTokens: 20 }));
  expect(second.stats.reusedTokens).toBeGreaterThanOrEqual(first.prompt.length + first.ids.length - 1);
  const alone = await told((await model.session()).generate({ messages }, { ...options, maxTokens: 20 }));
  expect(alone.stats.reusedTokens).toBe(0);
  expect(second.ids).toEqual(alone.ids);
});

it('ends before a stop string of several tokens', async () => {
  const session = await model.session();
  const stop = reference.greedy_text.slice(30, 42);
  const { text, reason } = await told(
    session.generate({ text: reference.short_prompt }, { temperature: 0, maxTokens: 64, stop: [stop] }),
  );
  expect([text, reason]).toEqual([reference.greedy_text.slice(0, 30), 'stop-string']);
});
