import { resolveSampling } from '@kvad/core';
import type { CliChat } from '@kvad/schemas';
import { Chat } from '../chat/chat.js';
import { ConversationFiles } from '../chat/conversation-file.js';
import { Conversation } from '../chat/conversation.js';
import { ChatHistory, historyFile } from '../chat/history.js';
import { pipedLines, TerminalLines, type LineSource } from '../chat/line-source.js';
import { Repl, warnOfBaseModel } from '../chat/repl.js';
import { writeJson, writeLine, type Io } from '../io/io.js';
import { warn } from '../io/warn.js';
import type { NamedModel } from '../model-folder.js';
import type { Action } from './actions.js';
import { loadOptions } from './load-options.js';
import { withModel } from './open-model.js';
import { runConfig, runSampling } from './run-report.js';
import { refuseContradictions, samplingFlags } from './sampling-options.js';
import type { Options } from './table.js';

const MAX_TOKENS = 256;

/** `kvad chat`: turns, until the user leaves or stdin ends. Exit code 1 where stdin is no terminal and a turn failed. */
export const chat: Action<'chat'> = async (io, { options }) => {
  refuseContradictions(options, 'chat');
  const load = loadOptions(io, options);
  let code: 0 | 1 = 0;
  await withModel(
    io,
    { model: options.model ?? null, plugins: options.plugin, load },
    async (model, names, loadAgain) => {
      const settings = {
        ...resolveSampling(samplingFlags(options), model.facts.text.sampling),
        ...{ maxTokens: options.maxTokens ?? MAX_TOKENS, stop: options.stop },
      };
      const talk = await Chat.open(model, new Conversation(options.system ?? null), settings);
      if (talk.isBase) await warnOfBaseModel(io);
      const typed = isTerminal(io);
      const lines = typed ? terminal(io) : pipedLines(io);
      const repl = new Repl({
        ...{
          io,
          chat: talk,
          lines,
          files: new ConversationFiles(io),
          model,
          quiet: options.json,
          debug: options.debug,
        },
        reload: (quant) => loadAgain({ ...load, quant }),
      });
      try {
        if (typed) await writeLine(io.stderr, '/help lists the commands');
        await repl.run();
        await talk.close();
      } finally {
        lines.close();
      }
      const sampling = runSampling(settings);
      if (options.json) await writeJson(io.stdout, chatObject(names, repl, talk, sampling, options));
      if (repl.failed && !typed) code = 1;
    },
  );
  return code;
};

const isTerminal = (io: Io): boolean => io.stdin.isTTY === true && io.stderr.isTTY === true;

const terminal = (io: Io): LineSource => {
  const history = new ChatHistory(historyFile(io.env), (reason) => {
    void warn(io, `what is typed is not kept for another time: ${reason}`);
  });
  return new TerminalLines(io, history);
};

const chatObject = (
  names: NamedModel,
  { model: { facts }, turns }: Repl,
  { conversation }: Chat,
  sampling: CliChat['sampling'],
  { batchSize = 512 }: Options<'chat'>,
): CliChat => ({
  object: 'kvad.chat',
  ...names,
  family: facts.plan.family,
  model_type: facts.plan.modelType,
  base_model: facts.text.template === null,
  turns: [...turns],
  messages: conversation.messages.map((message) => ({ ...message })),
  sampling,
  config: runConfig(facts, batchSize),
  load_ms: facts.loadMilliseconds,
  warnings: [...facts.warnings],
});
