import { isKvadError, type ErrorCode, type LoadedModel, type Precision } from '@kvad/core';
import type { ChatTurn } from '@kvad/schemas';
import { colorsFor } from '../io/colors.js';
import { writeLine, type Io } from '../io/io.js';
import { asKvadError, printError } from '../io/print-error.js';
import { formatBytes, perSecond } from '../io/quantities.js';
import { warn } from '../io/warn.js';
import type { Chat, TurnEvent } from './chat.js';
import type { ConversationFiles } from './conversation-file.js';
import { helpText, parseLine, type LineCommand } from './line-commands.js';
import type { LineSource } from './line-source.js';
import { addTo, noTotals, printTurn, TurnRecord } from './turn-report.js';

export interface ReplPieces {
  readonly io: Io;
  readonly chat: Chat;
  readonly lines: LineSource;
  readonly files: ConversationFiles;
  readonly model: LoadedModel;
  /** Loads the model with another precision; null: as stored. */
  reload(quant: Precision | null): Promise<LoadedModel>;
  /** Answers are told of at the end, not as they are made. */
  readonly quiet: boolean;
  readonly debug: boolean;
}

/** After these nothing can be answered any more. */
const FATAL: ReadonlySet<ErrorCode> = new Set(['KVAD_E_WORKER', 'KVAD_E_CLOSED', 'KVAD_E_INTERNAL']);

const PRECISIONS = ['f32', 'bf16', 'q8', 'q4'] as const;

/** Reads messages and commands, and answers them, until one says to stop or no more come. */
export class Repl {
  readonly turns: ChatTurn[] = [];
  /** Whether a turn or command failed. */
  failed = false;
  readonly #pieces: ReplPieces;
  readonly #totals = noTotals();
  #model: LoadedModel;

  constructor(pieces: ReplPieces) {
    this.#pieces = pieces;
    this.#model = pieces.model;
  }

  get model(): LoadedModel {
    return this.#model;
  }

  async run(): Promise<void> {
    const { lines, io } = this.#pieces;
    for (;;) {
      const text = await lines.next();
      if (text === null || io.interrupt.aborted) return;
      if (text.trim() === '') continue;
      if (!(await this.#take(text))) return;
    }
  }

  /** false: it was the last one. */
  async #take(text: string): Promise<boolean> {
    const line = parseLine(text);
    if (line.kind === 'message') {
      await this.#answer(line.text, (signal) => this.#pieces.chat.say(line.text, signal));
      return true;
    }
    if (line.kind === 'unknown') {
      this.failed = true;
      await this.#note(`there is no ${line.name}; /help lists the commands`);
      return true;
    }
    const { name, rest } = line;
    if (name === 'quit') return false;
    await this.#guarded(() => this.#command(name, rest));
    return true;
  }

  async #answer(prompt: string, start: (signal: AbortSignal) => AsyncGenerator<TurnEvent>): Promise<void> {
    const { io, lines, quiet } = this.#pieces;
    const record = new TurnRecord(prompt);
    const state = { last: '' };
    const error = await this.#guarded(() =>
      lines.stoppable(async (signal) => {
        for await (const event of start(signal)) {
          record.add(event);
          if (event.type === 'end') addTo(this.#totals, event.stats);
          if (!quiet) await printTurn(io, event, state);
        }
      }),
    );
    this.turns.push(record.turn(error));
  }

  /** An error is told of, and the chat goes on, unless nothing can be answered any more. */
  async #guarded(action: () => Promise<void>): Promise<{ code: string; message: string } | null> {
    const { io, debug } = this.#pieces;
    try {
      await action();
      return null;
    } catch (thrown) {
      if (io.interrupt.aborted) return null;
      const error = asKvadError(thrown);
      if (FATAL.has(error.code) || !isKvadError(thrown)) throw thrown;
      this.failed = true;
      await printError(io, error, { json: false, debug, colors: colorsFor(io, io.stderr) });
      return { code: error.code, message: error.message };
    }
  }

  async #command(name: Exclude<LineCommand, 'quit'>, rest: string): Promise<void> {
    const { chat, files } = this.#pieces;
    const { conversation } = chat;
    switch (name) {
      case 'help':
        return this.#note(helpText());
      case 'reset':
        conversation.reset();
        return this.#note('the conversation is forgotten');
      case 'system':
        return this.#system(rest);
      case 'save': {
        const file = files.save(rest, this.#model.facts.directory, conversation.messages);
        return this.#note(file === null ? 'to which file? /save FILE' : `saved to ${file}`);
      }
      case 'load': {
        if (rest === '') return this.#note('which file? /load FILE');
        conversation.replace(await files.load(rest));
        return this.#note(`${conversation.messages.length} messages loaded`);
      }
      case 'regen':
        return this.#again();
      case 'quant':
        return this.#quant(rest);
      case 'stats':
        return this.#note(this.#stats());
    }
  }

  async #system(text: string): Promise<void> {
    const { conversation, isBase } = this.#pieces.chat;
    if (text === '') {
      return this.#note(conversation.system === null ? 'there is no system message' : conversation.system);
    }
    conversation.system = text === '-' ? null : text;
    await this.#note(conversation.system === null ? 'no system message any more' : 'the system message is set');
    if (isBase) await this.#note('(to a base model it is text at the beginning, no more)');
  }

  async #again(): Promise<void> {
    const { chat } = this.#pieces;
    const asked = chat.conversation.messages.findLast(({ role }) => role === 'user');
    if (asked === undefined) return this.#note('there is nothing to answer again');
    const prompt = typeof asked.content === 'string' ? asked.content : JSON.stringify(asked.content);
    await this.#answer(prompt, (signal) => chat.again(signal));
  }

  async #quant(wanted: string): Promise<void> {
    const { chat, lines, reload } = this.#pieces;
    const quant = wanted === 'stored' ? null : PRECISIONS.find((one) => one === wanted);
    if (quant === undefined) return this.#note(`which precision? /quant ${PRECISIONS.join('|')}|stored`);
    const before = this.#model;
    const model = await lines.stoppable(() => reload(quant));
    await chat.move(model);
    this.#model = model;
    await before.close();
    await this.#note(`weights ${formatBytes(model.facts.weightBytes)} as ${quant ?? 'stored'}`);
  }

  #stats(): string {
    const { facts } = this.#model;
    const { turns, generatedTokens, promptTokens, reusedTokens, decodeMilliseconds } = this.#totals;
    const held = this.#pieces.chat.heldTokens;
    const kv = formatBytes(held * facts.stateBytesPerToken);
    return [
      `${turns} answers, ${generatedTokens} tokens, ${perSecond(generatedTokens, decodeMilliseconds).toFixed(1)} tok/s`,
      `prompts ${promptTokens} tokens, of which ${reusedTokens} were reused`,
      `context ${held} of ${facts.plan.contextLength} tokens (${kv}); weights ${formatBytes(facts.weightBytes)}`,
      `${facts.kernels}, ${facts.threads} threads`,
    ].join('\n');
  }

  #note(text: string): Promise<void> {
    const { io } = this.#pieces;
    return writeLine(io.stderr, colorsFor(io, io.stderr).dim(text));
  }
}

/** What a user should know before the first message. */
export const warnOfBaseModel = (io: Io): Promise<void> =>
  warn(
    io,
    'this model has no chat template: it is a base model, which continues the text of the conversation and answers nothing',
  );
