import type { FinishReason, GenerateStats } from '@kvad/core';
import type { ChatTurn } from '@kvad/schemas';
import { colorsFor } from '../io/colors.js';
import { write, writeLine, type Io } from '../io/io.js';
import { perSecond } from '../io/quantities.js';
import type { TurnEvent } from './chat.js';

/** Sums over the turns of a chat. */
export interface Totals {
  turns: number;
  generatedTokens: number;
  promptTokens: number;
  reusedTokens: number;
  decodeMilliseconds: number;
}

export const noTotals = (): Totals => ({
  ...{ turns: 0, generatedTokens: 0, promptTokens: 0, reusedTokens: 0, decodeMilliseconds: 0 },
});

export const addTo = (totals: Totals, stats: GenerateStats): void => {
  totals.turns++;
  totals.generatedTokens += stats.generatedTokens;
  totals.promptTokens += stats.promptTokens;
  totals.reusedTokens += stats.reusedTokens;
  totals.decodeMilliseconds += stats.decodeMilliseconds;
};

/** Tells of a turn as it goes: the answer on stdout, the rest on stderr. */
export const printTurn = async (io: Io, event: TurnEvent, state: { last: string }): Promise<void> => {
  const { dim, yellow } = colorsFor(io, io.stderr);
  if (event.type === 'prompt') return;
  if (event.type === 'left-out') return writeLine(io.stderr, yellow(leftOut(event)));
  state.last = event.text.at(-1) ?? state.last;
  await write(io.stdout, event.text);
  if (event.type === 'token') return;
  if (state.last !== '\n') await write(io.stdout, '\n');
  const note = NOTES[event.reason];
  await writeLine(io.stderr, dim(`  [${turnSummary(event.stats)}${note === undefined ? '' : ` · ${note}`}]`));
};

const NOTES: Partial<Record<FinishReason, string>> = {
  length: 'stopped at --max-tokens',
  context: 'the context is full',
  aborted: 'interrupted',
};

/** `56 tok, 34.6 tok/s, 96 reused` */
export const turnSummary = ({ generatedTokens, decodeMilliseconds, reusedTokens }: GenerateStats): string =>
  `${generatedTokens} tok, ${perSecond(generatedTokens, decodeMilliseconds).toFixed(1)} tok/s, ${reusedTokens} reused`;

const leftOut = ({ messages, contextLength }: Extract<TurnEvent, { type: 'left-out' }>): string => {
  const users = messages.filter(({ role }) => role === 'user');
  const [first] = users;
  const words = typeof first?.content === 'string' ? first.content : '';
  const begin = JSON.stringify(words.length > 40 ? `${words.slice(0, 40)}…` : words);
  const turns = users.length === 1 ? 'the oldest turn is' : `the oldest ${users.length} turns are`;
  return `  the conversation outgrows the context of ${contextLength} tokens: ${turns} left out, from ${begin} on (/save keeps all)`;
};

/** Takes the events of a turn together for `--json`. */
export class TurnRecord {
  readonly #prompt: string;
  #text = '';
  #leftOut = 0;
  #end: Extract<TurnEvent, { type: 'end' }> | null = null;

  constructor(prompt: string) {
    this.#prompt = prompt;
  }

  add(event: TurnEvent): void {
    if (event.type === 'left-out') this.#leftOut += event.messages.length;
    else if (event.type !== 'prompt') this.#text += event.text;
    if (event.type === 'end') this.#end = event;
  }

  /** `error`: what kept the turn from its end. */
  turn(error: { readonly code: string; readonly message: string } | null): ChatTurn {
    const stats = this.#end?.stats;
    return {
      prompt: this.#prompt,
      text: this.#text,
      finish_reason: this.#end?.reason ?? null,
      error,
      left_out_messages: this.#leftOut,
      prompt_tokens: stats?.promptTokens ?? 0,
      reused_tokens: stats?.reusedTokens ?? 0,
      generated_tokens: stats?.generatedTokens ?? 0,
      prefill_ms: stats?.prefillMilliseconds ?? 0,
      decode_ms: stats?.decodeMilliseconds ?? 0,
      decode_tokens_per_second: perSecond(stats?.generatedTokens ?? 0, stats?.decodeMilliseconds ?? 0),
    };
  }
}
