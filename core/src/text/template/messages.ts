import { isNothing } from '../json-file.js';
import type { ChatMessage } from '../types.js';

/** Names that a message's reasoning goes by; templates read the first, or `thinking`. */
const REASONING_KEYS = ['reasoning_content', 'thinking', 'reasoning'] as const;

/**
 * Messages as transformers gives them to a template: keys whose value is null are left out (templates would print
 * "None"), and a message's reasoning is there as `reasoning_content` whatever name it came under, and as `thinking`.
 */
export const templateMessages = (messages: readonly ChatMessage[]): Record<string, unknown>[] =>
  messages.map((message) => {
    const present = Object.fromEntries(Object.entries(message).filter(([, value]) => !isNothing(value)));
    const name = REASONING_KEYS.find((key) => Object.hasOwn(present, key));
    if (name === undefined) return present;
    const reasoning = present[name];
    return { thinking: reasoning, ...present, reasoning_content: reasoning };
  });
