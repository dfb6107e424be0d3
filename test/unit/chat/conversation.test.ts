import { describe, expect, it } from 'vitest';
import { Conversation } from '../../../cli/dist/chat/conversation.js';
import { parseLine } from '../../../cli/dist/chat/line-commands.js';
import { MessageLines } from '../../../cli/dist/chat/message-lines.js';
import { keepsReasoningApart, splitReasoning } from '../../../cli/dist/chat/reasoning.js';

const user = (content: string): { role: string; content: string } => ({ role: 'user', content });
const assistant = (content: string): { role: string; content: string } => ({ role: 'assistant', content });
const system = (content: string): { role: string; content: string } => ({ role: 'system', content });

const threeTurns = (): Conversation => {
  const conversation = new Conversation('be brief');
  for (const turn of [1, 2, 3]) {
    conversation.say(`q${turn}`);
    conversation.answer(assistant(`a${turn}`));
  }
  return conversation;
};

describe('a conversation', () => {
  it('leaves its oldest turns out of the prompt, and keeps them', () => {
    const conversation = threeTurns();
    const all = conversation.messages;
    expect(conversation.leaveOut()).toEqual([user('q1'), assistant('a1')]);
    expect(conversation.leaveOut()).toEqual([user('q2'), assistant('a2')]);
    expect(conversation.leaveOut()).toBeNull();
    expect(conversation.prompt).toEqual([system('be brief'), user('q3'), assistant('a3')]);
    expect(conversation.messages).toEqual(all);
  });

  it('takes a message back that cannot be answered, and only that', () => {
    const conversation = threeTurns();
    conversation.takeBack();
    expect(conversation.messages).toHaveLength(7);
    conversation.say('q4');
    conversation.leaveOut();
    conversation.leaveOut();
    conversation.leaveOut();
    conversation.takeBack();
    conversation.say('q5');
    expect(conversation.prompt).toEqual([system('be brief'), user('q5')]);
  });

  it('gives the last answer away, for another one, and takes it again', () => {
    const conversation = threeTurns();
    const answer = conversation.takeAnswer();
    expect(answer).toEqual([assistant('a3')]);
    expect(conversation.awaitsAnswer).toBe(true);
    conversation.putAnswer(answer ?? []);
    expect(conversation.messages.at(-1)).toEqual(assistant('a3'));
    expect(new Conversation().takeAnswer()).toBeNull();
  });

  it('is replaced by another one, with its system message or none', () => {
    const conversation = threeTurns();
    conversation.leaveOut();
    conversation.replace([system('x'), user('a'), assistant('b')]);
    expect(conversation.prompt).toEqual([system('x'), user('a'), assistant('b')]);
    conversation.replace([user('a')]);
    expect(conversation.prompt).toEqual([user('a')]);
    expect(conversation.system).toBeNull();
  });
});

describe('a line of a chat', () => {
  it.each([
    ['hello', { kind: 'message', text: 'hello' }],
    ['//etc/passwd', { kind: 'message', text: '/etc/passwd' }],
    ['/save  a b.json ', { kind: 'command', name: 'save', rest: 'a b.json' }],
    ['/system one\ntwo', { kind: 'command', name: 'system', rest: 'one\ntwo' }],
    ['/exit', { kind: 'command', name: 'quit', rest: '' }],
    ['/constructor', { kind: 'unknown', name: '/constructor' }],
    ['/', { kind: 'unknown', name: '/' }],
  ])('%j', (line, expected) => {
    expect(parseLine(line)).toEqual(expected);
  });
});

describe('lines become messages', () => {
  const messages = (lines: readonly string[]): (string | null)[] => {
    const reader = new MessageLines();
    return [...lines.map((line) => reader.push(line)), reader.end()];
  };

  it.each([
    { what: 'a line', lines: ['a'], expected: ['a', null] },
    { what: 'a line that goes on', lines: ['a\\', 'b\\', 'c', 'd'], expected: [null, null, 'a\nb\nc', 'd', null] },
    { what: 'a block', lines: ['"""', 'a', '', 'b\\', '"""'], expected: [null, null, null, null, 'a\n\nb\\', null] },
    { what: 'a block with text at its marks', lines: ['"""a', 'b"""'], expected: [null, 'a\nb', null] },
    { what: 'a block in one line', lines: ['"""a"""'], expected: ['a', null] },
    { what: 'an end in a block', lines: ['"""', 'a'], expected: [null, null, 'a'] },
  ])('$what', ({ lines, expected }) => {
    expect(messages(lines)).toEqual(expected);
  });

  it('what was pasted is one message with the line that is sent', () => {
    const reader = new MessageLines();
    expect(reader.push('a', { pasting: true })).toBeNull();
    expect(reader.push('b', { pasting: true })).toBeNull();
    expect(reader.open).toBe(true);
    expect(reader.push('c')).toBe('a\nb\nc');
    reader.push('a\\');
    reader.clear();
    expect(reader.end()).toBeNull();
  });
});

describe('reasoning', () => {
  it.each([
    ['<think>\nhm\n</think>\n\nyes', { reasoning: 'hm', content: 'yes' }],
    ['hm\n</think>yes </think>', { reasoning: 'hm', content: 'yes </think>' }],
    ['<think>hm', null],
    ['yes', null],
  ])('%j', (text, expected) => {
    expect(splitReasoning(text)).toEqual(expected);
  });

  type Message = Readonly<Record<string, unknown>>;
  const contents = (of: (message: Message) => unknown) => ({
    render: (messages: readonly Message[]) => Promise.resolve(messages.map(of).join('|')),
  });
  it.each([
    ['takes it out of the text', contents(({ content }) => String(content).split('</think>').at(-1)), true],
    ['wants it apart', contents(({ content, reasoning_content: r }) => `${String(r)} ${String(content)}`), true],
    ['knows nothing of it', contents(({ content }) => content), false],
    ['refuses the probe', { render: () => Promise.reject(new Error('no')) }, false],
  ])('a template that %s', async (_, model, expected) => {
    expect(await keepsReasoningApart(model)).toBe(expected);
  });
});
