import { KvadError } from '../errors/kvad-error.js';
import { Logprobs } from '../sampling/logprobs.js';
import { resolveSampling } from '../sampling/options.js';
import { Sampler } from '../sampling/sampler.js';
import type { TextSide } from '../text/types.js';
import { GeneratedText } from './generated-text.js';
import type { Model } from './model.js';
import { prefill, requireContext, requireTokens } from './prefill.js';
import { promptIds } from './prompt.js';
import type { Scheduler } from './scheduler.js';
import { commonPrefix, type Sequence } from './sequence.js';
import type { FinishReason, GenerateEvent, GenerateOptions, Prompt, TokenLogprob } from './types.js';

export const MAX_TOKENS = 256;

/** What a generation works with. */
export interface Generator {
  readonly directory: string;
  readonly model: Model;
  readonly text: TextSide;
  readonly scheduler: Scheduler;
  readonly sequence: Sequence;
  /** Rows of one forward of the prompt. */
  readonly chunk: number;
}

/**
 * Continues a prompt, token by token: prompt -> ids -> logits -> sampler -> id -> text. What the sequence holds of the
 * prompt already is kept, but for one token at least, whose logits are needed. The token that ends a text is neither
 * given nor counted. An abort is seen before the next forward and ends the generation with reason `aborted`.
 */
export async function* generate(
  generator: Generator,
  prompt: Prompt,
  options: GenerateOptions,
): AsyncGenerator<GenerateEvent> {
  const { directory, model, text, scheduler, sequence, chunk } = generator;
  const { maxTokens, logprobs, echo, signal } = checked(options);
  const sampler = new Sampler(resolveSampling(options, text.facts.sampling));
  const output = new GeneratedText(text, options.stop ?? []);
  const ids = await promptIds(prompt, text, directory);
  requireTokens(model, ids);
  requireContext(model, ids.length);

  const reused = sequence.truncate(echo && logprobs > 0 ? 0 : reusable(model, sequence, ids));
  const clock = startClock();
  let generated = 0;
  const end = (reason: FinishReason, rest: string): GenerateEvent => ({
    type: 'end',
    reason,
    text: rest,
    stats: { promptTokens: ids.length, reusedTokens: reused, generatedTokens: generated, ...clock.read() },
  });

  try {
    yield { type: 'prompt', ids, reused };
    let logits = yield* readPrompt(generator, ids, { echo, logprobs, signal }, output);
    clock.decodes();
    if (!logits) return yield end('aborted', output.end().text);

    const context = [...ids];
    const into = new Float32Array(model.plan.vocabSize);
    for (;;) {
      if (generated === maxTokens) return yield finish('length', output, end);
      if (signal?.aborted) return yield finish('aborted', output, end);
      const id = sampler.next(logits, context);
      if (text.endIds.has(id)) return yield finish('stop', output, end);
      generated++;
      context.push(id);
      const { text: piece, stopped } = output.push(id);
      yield { type: 'token', id, text: piece, echo: false, ...probabilities(logits, id, logprobs) };
      if (stopped) return yield end('stop-string', '');
      if (generated === maxTokens) continue;
      if (sequence.length === model.contextLength) return yield finish('context', output, end);
      for await (const rows of prefill(model, scheduler, sequence, [id], { chunk, logits: 'last', into }))
        logits = rows;
    }
  } finally {
    sequence.checkpoint();
  }
}

/** The end of a text may complete a stop string: then that is the reason. */
const finish = (
  reason: FinishReason,
  output: GeneratedText,
  end: (reason: FinishReason, rest: string) => GenerateEvent,
): GenerateEvent => {
  const { text, stopped } = output.end();
  return end(stopped ? 'stop-string' : reason, text);
};

interface PromptOptions {
  readonly echo: boolean;
  readonly logprobs: number;
  readonly signal: AbortSignal | undefined;
}

/** Runs what is not held of the prompt; gives its tokens if asked for. Returns the last logits, null after an abort. */
async function* readPrompt(
  { model, scheduler, sequence, chunk }: Generator,
  ids: readonly number[],
  { echo, logprobs, signal }: PromptOptions,
  output: GeneratedText,
): AsyncGenerator<GenerateEvent, Float32Array | null> {
  const { vocabSize } = model.plan;
  const scored = echo && logprobs > 0;
  let told = 0;
  const echoed = (before: Float32Array | null): GenerateEvent[] => {
    const id = ids[told++]!;
    const text = output.prompt(id);
    return echo ? [{ type: 'token', id, text, echo: true, ...probabilities(before, id, logprobs) }] : [];
  };
  while (told < (scored ? 1 : ids.length)) yield* echoed(null);

  const wanted = { chunk, logits: scored ? 'all' : 'last', signal, checkpointAt: ids.length - 1 } as const;
  let last: Float32Array | null = null;
  try {
    for await (const rows of prefill(model, scheduler, sequence, ids.slice(sequence.length), wanted)) {
      for (let start = 0; start < rows.length; start += vocabSize) {
        last = rows.subarray(start, start + vocabSize);
        if (told < ids.length) yield* echoed(last);
      }
    }
  } catch (error) {
    if (signal?.aborted && error === signal.reason) return null;
    throw error;
  }
  return last;
}

/** Tokens of the prompt whose states can be kept: they must have been computed with the angles of this length. */
const reusable = (model: Model, sequence: Sequence, ids: readonly number[]): number =>
  !sequence.continuesTo(ids.length) || model.anglesFollowLength(Math.max(sequence.length, ids.length))
    ? 0
    : Math.min(commonPrefix(sequence.ids, ids), ids.length - 1);

const probabilities = (
  logits: Float32Array | null,
  id: number,
  count: number,
): { logprob: number | null; top: readonly TokenLogprob[] } => {
  if (logits === null || count === 0) return { logprob: null, top: [] };
  const logprobs = new Logprobs(logits);
  return { logprob: logprobs.of(id), top: logprobs.top(count) };
};

/** Prefill and decode time in milliseconds. */
const startClock = () => {
  const start = performance.now();
  let prefilled: number | null = null;
  return {
    decodes: () => {
      prefilled = performance.now();
    },
    read: () => {
      const now = performance.now();
      const border = prefilled ?? now;
      return { prefillMilliseconds: border - start, decodeMilliseconds: now - border };
    },
  };
};

const checked = ({ maxTokens = MAX_TOKENS, logprobs = 0, echo = false, signal }: GenerateOptions) => {
  for (const [option, value] of Object.entries({ maxTokens, logprobs })) {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new KvadError('KVAD_E_OPTION', { option, value: String(value), expected: 'an integer of at least 0' });
    }
  }
  return { maxTokens, logprobs, echo, signal };
};
