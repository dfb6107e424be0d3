import { KvadError, resolveSampling, type GenerateOptions, type LoadedModel, type Prompt } from '@kvad/core';
import { interruptible } from './interruptible.js';
import type { Io } from '../io/io.js';
import { readStdin } from '../io/read-input.js';
import type { Action } from './actions.js';
import { loadOptions } from './load-options.js';
import { withModel } from './open-model.js';
import { jsonReport, textReport, type Report } from './run-report.js';
import { refuseContradictions as refuseSampling, samplingFlags } from './sampling-options.js';
import type { Options } from './table.js';

const MAX_TOKENS = 256;

/** `kvad run`: one prompt, one answer. */
export const run: Action<'run'> = async (io, { options }) => {
  refuseContradictions(options);
  const text = await promptText(io, options.prompt);
  const choice = { model: options.model ?? null, plugins: options.plugin, load: loadOptions(io, options) };
  await withModel(io, choice, async (model, names) => {
    const sampling = resolveSampling(samplingFlags(options), model.facts.text.sampling);
    const maxTokens = options.maxTokens ?? MAX_TOKENS;
    const report = options.json
      ? jsonReport(io, names, model, { ...sampling, maxTokens, batchSize: options.batchSize ?? 512 })
      : textReport(io, { logprobs: options.logprobs !== undefined });
    await generate(
      model,
      promptOf(text, options, model),
      { ...generateOptions(io, options), ...sampling, maxTokens },
      report,
    );
  });
  return 0;
};

const generate = async (
  model: LoadedModel,
  prompt: Prompt,
  options: GenerateOptions,
  report: Report,
): Promise<void> => {
  const session = await model.session();
  try {
    for await (const event of session.generate(prompt, options)) await report(event);
  } finally {
    await session.close();
  }
};

const refuseContradictions = (options: Options<'run'>): void => {
  const refuse = (problem: string): never => {
    throw new KvadError('KVAD_E_USAGE', { problem, command: 'run' });
  };
  if (options.prompt === undefined) refuse('a prompt is needed: --prompt TEXT, or --prompt - for stdin');
  if (options.raw && options.system !== undefined) refuse('--system needs the chat template, which --raw leaves out');
  refuseSampling(options, 'run');
};

const promptText = async (io: Io, prompt = ''): Promise<string> =>
  prompt === '-' ? interruptible(io.interrupt, readStdin(io)) : prompt;

/** With a chat template the prompt is a turn of the user, unless `--raw`; `--system` asks for the template. */
const promptOf = (text: string, { raw, system }: Options<'run'>, model: LoadedModel): Prompt => {
  const chat = system !== undefined || model.facts.text.template !== null;
  if (raw || !chat) return { text };
  const user = { role: 'user', content: text };
  return { messages: system === undefined ? [user] : [{ role: 'system', content: system }, user] };
};

const generateOptions = (io: Io, options: Options<'run'>): GenerateOptions => ({
  stop: options.stop,
  logprobs: options.logprobs ?? 0,
  echo: options.echo,
  signal: io.interrupt,
});
