import type { ChatMessage, LoadedModel } from '@kvad/core';

/** An answer that begins with reasoning, as models with a chat template of that kind write it. */
export interface SplitAnswer {
  readonly reasoning: string;
  readonly content: string;
}

const OPEN = '<think>';
const CLOSE = '</think>';

/** null: there is no finished reasoning in front. The opening tag may have been written by the template. */
export const splitReasoning = (text: string): SplitAnswer | null => {
  const end = text.indexOf(CLOSE);
  if (end < 0) return null;
  const before = text.slice(0, end).trimStart();
  const reasoning = before.startsWith(OPEN) ? before.slice(OPEN.length) : before;
  return { reasoning: reasoning.trim(), content: text.slice(end + CLOSE.length).replace(/^\n+/, '') };
};

/**
 * Whether a template takes the reasoning of earlier answers out of the text, or wants it apart from it: found by
 * rendering a conversation that has some. A template that knows nothing of reasoning gets the answer as it was written.
 */
export const keepsReasoningApart = async (model: Pick<LoadedModel, 'render'>): Promise<boolean> => {
  const probe = 'qzxreasoningxzq';
  const rendered = async (answer: ChatMessage): Promise<string> => {
    const user = { role: 'user', content: 'a' };
    try {
      return await model.render([user, answer, user], { addGenerationPrompt: true });
    } catch {
      return probe; // a template that refuses the probe is given what the model wrote
    }
  };
  const written = await rendered({ role: 'assistant', content: `${OPEN}\n${probe}\n${CLOSE}\n\nb` });
  if (!written.includes(probe)) return true;
  const apart = await rendered({ role: 'assistant', content: 'b', reasoning_content: probe });
  return apart.includes(probe) && apart !== probe;
};
