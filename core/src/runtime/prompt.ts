import { KvadError } from '../errors/kvad-error.js';
import type { ChatMessage, TextSide } from '../text/types.js';
import type { Prompt, RenderOptions } from './types.js';

/**
 * The ids of a prompt. A conversation goes through the chat template, which writes its special tokens itself; raw text
 * gets those that the tokenizer adds; ids are taken as they are. Throws KVAD_E_PROMPT_EMPTY, KVAD_E_TEMPLATE_*.
 */
export const promptIds = async (prompt: Prompt, text: TextSide, directory: string): Promise<number[]> => {
  const ids = await idsOf(prompt, text, directory);
  if (ids.length === 0) throw new KvadError('KVAD_E_PROMPT_EMPTY', { prompt: Object.keys(prompt).join(', ') });
  return ids;
};

const idsOf = async (prompt: Prompt, text: TextSide, directory: string): Promise<number[]> => {
  if ('ids' in prompt) return [...prompt.ids];
  if ('text' in prompt) return text.encodeText(prompt.text);
  return text.encodeRendered(render(text, directory, prompt.messages, { addGenerationPrompt: true }));
};

/** Throws KVAD_E_TEMPLATE_MISSING for a base model. */
export const render = (
  text: TextSide,
  directory: string,
  messages: readonly ChatMessage[],
  options: RenderOptions,
): string => {
  if (!text.template) throw new KvadError('KVAD_E_TEMPLATE_MISSING', { directory });
  return text.template.render({ messages, ...options });
};
