import { KvadError, loadText, type ChatMessage, type TextOptions } from '@kvad/core';
import type { CliRender } from '@kvad/schemas';
import { write, writeJson, type Io } from '../io/io.js';
import { readInput, readJsonInput } from '../io/read-input.js';
import { warn } from '../io/warn.js';
import type { Action } from './actions.js';
import { interruptible } from './interruptible.js';
import { modelFolder, placesOf } from '../model-folder.js';

/** `kvad render [MODEL] --messages FILE`: the exact prompt, without opening the weights. */
export const render: Action<'render'> = async (io, { args, options }) => {
  if (options.messages === undefined) {
    throw new KvadError('KVAD_E_USAGE', { problem: '--messages FILE is needed', command: 'render' });
  }
  const conversation = await interruptible(io.interrupt, readConversation(io, options.messages));
  const tools = options.tools === undefined ? conversation.tools : await readTools(io, options.tools);
  const model = modelFolder(args.model ?? options.model, placesOf(io), 'text');
  const side = await loadText(model, await textOptions(io, options.template));
  const { template } = side;
  if (template === null) throw new KvadError('KVAD_E_TEMPLATE_MISSING', { directory: model });
  const prompt = template.render({
    messages: conversation.messages,
    ...(tools === undefined ? {} : { tools }),
    addGenerationPrompt: !options.noGenerationPrompt,
    variables: variablesOf(options.var),
  });
  for (const warning of side.warnings) await warn(io, warning);
  if (options.json) {
    const ids = side.facts.tokenizer === null ? null : await side.encodeRendered(prompt);
    const result: CliRender = {
      object: 'kvad.render',
      model,
      template: template.source,
      prompt,
      count: ids?.length ?? null,
      ids,
    };
    await writeJson(io.stdout, result);
  } else {
    await write(io.stdout, prompt);
  }
  return 0;
};

interface Conversation {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly unknown[] | undefined;
}

/** A list of messages, or an object that holds one beside tools. */
const readConversation = async (io: Io, file: string): Promise<Conversation> => {
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

const readTools = async (io: Io, file: string): Promise<readonly unknown[]> => {
  const content = await readJsonInput(io, file);
  return listOf(content, file, 'tools');
};

const listOf = (value: unknown, file: string, what: string): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  throw new KvadError('KVAD_E_INPUT_SHAPE', { file, found: `${what} that are no list`, expected: `a list of ${what}` });
};

const objectOf = (value: unknown): Record<string, unknown> =>
  value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};

const textOptions = async (io: Io, file: string | undefined): Promise<TextOptions> =>
  file === undefined ? {} : { template: { file, text: await readInput(io, file) } };

/** `enable_thinking=false` -> false; what is not JSON stays text. */
const variablesOf = (pairs: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new KvadError('KVAD_E_USAGE', { problem: `--var ${pair} is not KEY=VALUE`, command: 'render' });
      return [pair.slice(0, at), valueOf(pair.slice(at + 1))];
    }),
  );

const valueOf = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // not JSON: the words themselves
  }
};
