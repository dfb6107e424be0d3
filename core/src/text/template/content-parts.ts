import type { ChatMessage } from '../types.js';

/** A content that is a list of texts, as one text; undefined: a text already, or parts of other kinds. */
const joined = ({ content }: ChatMessage): string | undefined => {
  if (!Array.isArray(content)) return undefined;
  const texts = content.map((part) => textOf(part));
  return texts.every((text) => text !== null) ? texts.join('') : undefined;
};

const textOf = (part: unknown): string | null => {
  if (part === null || typeof part !== 'object') return null;
  const { type, text } = part as { type?: unknown; text?: unknown };
  return type === 'text' && typeof text === 'string' ? text : null;
};

const withText = (message: ChatMessage): ChatMessage => {
  const content = joined(message);
  return content === undefined ? message : { ...message, content };
};

/** Texts that no template has. */
const MARKS = ['kvadFirstPart', 'kvadSecondPart'];
const MARKED = MARKS.map((text) => ({ type: 'text', text }));
/** A part as Python or JSON prints it. */
const PRINTED = new RegExp(`["']text["']: *["']${MARKS[0]}`);

/**
 * Messages whose content is a list of texts, fitted to the template: it stays a list where the template goes through
 * it, else it becomes one text. Found out for each role by a dry rendering of this conversation with marked parts.
 * `render` throws what the template refuses.
 */
export const fitContent = (
  messages: readonly ChatMessage[],
  render: (messages: readonly ChatMessage[]) => string,
): readonly ChatMessage[] => {
  const roles = new Set(messages.filter((message) => joined(message) !== undefined).map(({ role }) => role));
  const kept = new Set([...roles].filter((role) => goesThroughParts(messages, role, render)));
  return messages.map((message) => (kept.has(message.role) ? message : withText(message)));
};

const goesThroughParts = (
  messages: readonly ChatMessage[],
  role: string,
  render: (messages: readonly ChatMessage[]) => string,
): boolean => {
  const trial = messages.map((message) =>
    message.role === role && joined(message) !== undefined ? { ...message, content: MARKED } : withText(message),
  );
  try {
    const prompt = render(trial);
    return MARKS.every((mark) => prompt.includes(mark)) && !PRINTED.test(prompt);
  } catch {
    return false; // the template refuses lists; what it says of the texts, the user will read
  }
};
