import { KvadError, type ChatMessage, type GenerateEvent, type GenerateOptions, type Prompt } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { Chat, type ChatModel, type TurnEvent } from '../../../cli/dist/chat/chat.js';
import { Conversation } from '../../../cli/dist/chat/conversation.js';

const CONTEXT = 100;

/** Says what it was asked last, a character a token; a message `refuse` is what its template refuses. */
const model = ({ template = true, answer = 'yes' } = {}) => {
  const asked: { prompt: Prompt; options: GenerateOptions }[] = [];
  const render = (messages: readonly ChatMessage[]): Promise<string> => {
    if (messages.at(-1)?.content === 'refuse') {
      return Promise.reject(new KvadError('KVAD_E_TEMPLATE_RAISED', { file: 'x', text: 'no' }));
    }
    return Promise.resolve(messages.map(({ role, content }) => `${role[0]}:${String(content)};`).join(''));
  };
  async function* generate(prompt: Prompt, options: GenerateOptions = {}): AsyncGenerator<GenerateEvent> {
    asked.push({ prompt, options });
    yield { type: 'prompt', ids: [1], reused: 0 };
    const stats = {
      promptTokens: 1,
      reusedTokens: 0,
      generatedTokens: 1,
      prefillMilliseconds: 1,
      decodeMilliseconds: 1,
    };
    for (const text of answer) {
      if (options.signal?.aborted) return yield { type: 'end', reason: 'aborted', text: '', stats };
      await Promise.resolve();
      yield { type: 'token', id: 1, text, echo: false, logprob: null, top: [] };
    }
    yield { type: 'end', reason: 'stop', text: '', stats };
  }
  const session = { tokens: [], generate, close: () => Promise.resolve() };
  const facts = { plan: { contextLength: CONTEXT }, text: { template: template ? 'chat_template.jinja' : null } };
  const made = {
    ...{ facts, render, session: () => Promise.resolve(session) },
    encode: (text: string) => Promise.resolve(Array.from(text, () => 1)),
  };
  return { asked, made: made as unknown as ChatModel };
};

const open = async (made: ChatModel, system: string | null = null): Promise<Chat> =>
  Chat.open(made, new Conversation(system), { maxTokens: 20, seed: 7 });

const drain = async (turn: AsyncGenerator<TurnEvent>): Promise<TurnEvent[]> => {
  const events: TurnEvent[] = [];
  for await (const event of turn) events.push(event);
  return events;
};

const never = new AbortController().signal;

describe('a turn of a chat', () => {
  it('is asked with the whole conversation, and its answer becomes part of it', async () => {
    const { made, asked } = model();
    const chat = await open(made, 's');
    await drain(chat.say('a', never));
    await drain(chat.say('b', never));
    expect(asked[1]?.prompt).toEqual({
      messages: [
        { role: 'system', content: 's' },
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'yes' },
        { role: 'user', content: 'b' },
      ],
    });
  });

  it('is answered again with another seed, from the same messages', async () => {
    const { made, asked } = model();
    const chat = await open(made);
    await drain(chat.say('a', never));
    await drain(chat.again(never));
    await drain(chat.again(never));
    expect(asked.map(({ options }) => options.seed)).toEqual([7, 8, 9]);
    expect(asked[2]?.prompt).toEqual(asked[0]?.prompt);
    expect(chat.conversation.messages).toHaveLength(2);
  });

  it('that the template refuses is taken back', async () => {
    const { made } = model();
    const chat = await open(made);
    await drain(chat.say('a', never));
    const before = chat.conversation.messages;
    await expect(drain(chat.say('refuse', never))).rejects.toThrow('no');
    expect(chat.conversation.messages).toEqual(before);
  });

  it('that is interrupted keeps what was made; where nothing was, it is taken back', async () => {
    const { made } = model();
    const chat = await open(made);
    const stop = new AbortController();
    for await (const event of chat.say('a', stop.signal)) if (event.type === 'token') stop.abort();
    expect(chat.conversation.messages.at(-1)).toEqual({ role: 'assistant', content: 'y' });
    await drain(chat.say('b', stop.signal));
    expect(chat.conversation.messages).toHaveLength(2);
    await drain(chat.again(stop.signal));
    expect(chat.conversation.messages.at(-1)).toEqual({ role: 'assistant', content: 'y' });
  });

  it('that outgrows the context loses the oldest turns, down to half of it, and says which', async () => {
    const { made, asked } = model({ answer: 'yes '.repeat(3) });
    const chat = await open(made, 'sys');
    let left: TurnEvent | undefined;
    for (let turn = 0; left === undefined && turn < 10; turn++) {
      left = (await drain(chat.say(`question ${turn}`, never))).find(({ type }) => type === 'left-out');
    }
    expect(left).toMatchObject({
      contextLength: CONTEXT,
      messages: [{ role: 'user', content: 'question 0' }, {}, {}, {}],
    });
    const last = asked.at(-1)?.prompt as { messages: ChatMessage[] };
    expect(last.messages[0]).toEqual({ role: 'system', content: 'sys' });
    expect(last.messages.length).toBeLessThan(chat.conversation.messages.length);
    expect(chat.conversation.messages[1]).toEqual({ role: 'user', content: 'question 0' });
  });

  it('that alone is longer than the context is refused and taken back', async () => {
    const { made } = model();
    const chat = await open(made);
    await drain(chat.say('a', never));
    await expect(drain(chat.say('x'.repeat(CONTEXT), never))).rejects.toThrow('do not fit the context');
    expect(chat.conversation.messages).toHaveLength(2);
    expect((await drain(chat.say('b', never))).at(-1)).toMatchObject({ type: 'end', reason: 'stop' });
  });

  it('of a base model continues the text of all turns', async () => {
    const { made, asked } = model({ template: false });
    const chat = await open(made);
    expect(chat.isBase).toBe(true);
    await drain(chat.say('Once', never));
    await drain(chat.say('And', never));
    expect(asked[1]?.prompt).toEqual({ text: 'Onceyes\nAnd' });
  });

  it('does not give reasoning back to a template that drops it', async () => {
    const { made } = model({ answer: '<think>hm</think>yes' });
    const dropping = {
      ...made,
      render: (messages: readonly ChatMessage[]) =>
        Promise.resolve(messages.map(({ content }) => String(content).split('</think>').at(-1)).join('|')),
    };
    const chat = await open(dropping);
    await drain(chat.say('a', never));
    expect(chat.conversation.messages.at(-1)).toEqual({ role: 'assistant', content: 'yes', reasoning_content: 'hm' });
    const keeping = await open(made);
    await drain(keeping.say('a', never));
    expect(keeping.conversation.messages.at(-1)).toEqual({ role: 'assistant', content: '<think>hm</think>yes' });
  });
});
