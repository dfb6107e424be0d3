import { KvadError, type ChatMessage } from '@kvad/core';
import type { Io } from './io.js';
import { readJsonInput } from './read-input.js';

export interface Conversation {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly unknown[] | undefined;
}

/** A list of messages, or an object that holds one beside tools. */
export const readConversation = async (io: Io, file: string): Promise<Conversation> => {
  const content = await readJsonInput(io, file);
  const { messages, tools } = Array.isArray(content) ? { messages: content, tools: undefined } : objectOf(content);
  const expected = 'a list of messages with a "role" each, or an object with such a list as "messages"';
  if (!Array.isArray(messages))
    throw new KvadError('KVAD_E_INPUT_SHAPE', { file, found: 'no list of messages', expected });
  const wrong = messages.findIndex((message) => typeof objectOf(message).role !== 'string');
  if (wrong >= 0)
    throw new KvadError('KVAD_E_INPUT_SHAPE', { file, found: `a message without a role at place ${wrong}`, expected });
  return { messages: messages as ChatMessage[], tools: tools === undefined ? undefined : listOf(tools, file, 'tools') };
};

/** Throws KVAD_E_INPUT_SHAPE. */
export const listOf = (value: unknown, file: string, what: string): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  throw new KvadError('KVAD_E_INPUT_SHAPE', { file, found: `${what} that are no list`, expected: `a list of ${what}` });
};

const objectOf = (value: unknown): Record<string, unknown> =>
  value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
