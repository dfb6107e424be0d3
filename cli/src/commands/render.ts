import { KvadError, loadText, type TextOptions } from '@kvad/core';
import type { CliRender } from '@kvad/schemas';
import { write, writeJson, type Io } from '../io/io.js';
import { listOf, readConversation } from '../io/read-conversation.js';
import { readInput, readJsonInput } from '../io/read-input.js';
import { warn } from '../io/warn.js';
import type { Action } from './actions.js';
import { interruptible } from './interruptible.js';
import { findModel, namesOf, placesOf } from '../model-folder.js';

/** `kvad render [MODEL] --messages FILE`: the exact prompt, without opening the weights. */
export const render: Action<'render'> = async (io, { args, options }) => {
  if (options.messages === undefined) {
    throw new KvadError('KVAD_E_USAGE', { problem: '--messages FILE is needed', command: 'render' });
  }
  const conversation = await interruptible(io.interrupt, readConversation(io, options.messages));
  const tools = options.tools === undefined ? conversation.tools : await readTools(io, options.tools);
  const found = findModel(args.model ?? options.model, placesOf(io), 'text');
  const side = await loadText(found.folder, await textOptions(io, options.template));
  const { template } = side;
  if (template === null) throw new KvadError('KVAD_E_TEMPLATE_MISSING', { directory: found.folder });
  const prompt = template.render({
    messages: conversation.messages,
    ...(tools === undefined ? {} : { tools }),
    addGenerationPrompt: !options.noGenerationPrompt,
    variables: variablesOf(options.var),
  });
  for (const warning of [...found.warnings, ...side.warnings]) await warn(io, warning);
  if (options.json) {
    const ids = side.facts.tokenizer === null ? null : await side.encodeRendered(prompt);
    const result: CliRender = {
      object: 'kvad.render',
      ...namesOf(found),
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

const readTools = async (io: Io, file: string): Promise<readonly unknown[]> => {
  const content = await readJsonInput(io, file);
  return listOf(content, file, 'tools');
};

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
