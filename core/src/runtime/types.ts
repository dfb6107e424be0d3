import type { ModelPlan } from '@kvad/schemas';
import type { Precision } from '../kernels/tensor.js';
import type { ConfigAudit, WeightAudit } from '../plan/audit.js';
import type { PerplexityOptions, PerplexityRequest, PerplexityResult } from '../scoring/types.js';
import type { ChatMessage } from '../text/types.js';

/** Sampling options. Absent flags have been filled in before they come here. */
export interface SamplingOptions {
  /** 0: greedy. */
  readonly temperature: number;
  /** 0: off. */
  readonly topK: number;
  /** 1: off. */
  readonly topP: number;
  /** 0: off. */
  readonly minP: number;
  /** 1: off. */
  readonly repeatPenalty: number;
  /** Tokens back that the penalty looks at. */
  readonly repeatWindow: number;
  readonly seed: number;
}

/** What to continue: raw text (no template), a conversation (through the chat template), or ids as they are. */
export type Prompt =
  { readonly text: string } | { readonly messages: readonly ChatMessage[] } | { readonly ids: readonly number[] };

export interface GenerateOptions extends Partial<SamplingOptions> {
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
  /** Top log-probabilities to give with each token; 0 or absent: none. */
  readonly logprobs?: number;
  /** Give the prompt's tokens first (with their log-probabilities, if asked for). */
  readonly echo?: boolean;
  readonly signal?: AbortSignal;
}

export type FinishReason = 'stop' | 'stop-string' | 'length' | 'context' | 'aborted';

export interface TokenLogprob {
  readonly id: number;
  /** ln p before sampling options. */
  readonly logprob: number;
}

/**
 * One event of a generation: the prompt, its tokens if `echo`, the answer's, the end. `text` is whole characters only: it
 * may be empty while bytes or stop strings are held back. What was held back at the end is the `text` of the `end`.
 */
export type GenerateEvent =
  | { readonly type: 'prompt'; readonly ids: readonly number[]; readonly reused: number }
  | {
      readonly type: 'token';
      readonly id: number;
      readonly text: string;
      readonly echo: boolean;
      readonly logprob: number | null;
      readonly top: readonly TokenLogprob[];
    }
  | { readonly type: 'end'; readonly reason: FinishReason; readonly text: string; readonly stats: GenerateStats };

export interface GenerateStats {
  readonly promptTokens: number;
  readonly reusedTokens: number;
  readonly generatedTokens: number;
  readonly prefillMilliseconds: number;
  readonly decodeMilliseconds: number;
}

/** A sequence of a model. Not to be used from two places at once. */
export interface Session {
  /** Tokens whose state is held, as of the last call that ended. */
  readonly tokens: readonly number[];
  /**
   * Runs ids through the model, in chunks. `logits`: of which rows they are returned, row-major:
   * `last` [1, vocab], `all` [ids.length, vocab], `none` empty.
   */
  prefill(
    ids: readonly number[],
    options?: { logits?: 'none' | 'last' | 'all'; chunk?: number; signal?: AbortSignal },
  ): Promise<Float32Array>;
  /** Continues; keeps the longest common prefix of what it holds and the new prompt (at least one token is recomputed). */
  generate(prompt: Prompt, options?: GenerateOptions): AsyncIterable<GenerateEvent>;
  /** Forgets tokens from `length` on; returns where it landed (state that cannot be cut lands on a snapshot before). */
  truncate(length: number): Promise<number>;
  /** The handle is this session's: no copy of it and no other session restores it. */
  snapshot(): Promise<SnapshotHandle>;
  /** Returns the length after it. The snapshot stays: it can be restored again. */
  restore(handle: SnapshotHandle): Promise<number>;
  /** Frees a snapshot. */
  forget(handle: SnapshotHandle): Promise<void>;
  close(): Promise<void>;
}

export interface SnapshotHandle {
  readonly id: number;
  readonly length: number;
  readonly bytes: number;
}

export interface LoadOptions {
  /** null: as stored. */
  readonly quant?: Precision | null;
  readonly kvCacheDtype?: 'f16' | 'f32';
  readonly batchSize?: number;
  readonly threads?: number;
  /** Unknown config keys warn instead of refusing. */
  readonly lenient?: boolean;
  /** Models of more than 300 M parameters may run on the reference ops. */
  readonly allowReference?: boolean;
  readonly requireNative?: boolean;
}

/** A model in its worker. */
export interface LoadedModel {
  readonly facts: ModelFacts;
  session(): Promise<Session>;
  /** One step of several sessions in one batch: session i gets ids[i] appended; logits of each last row. */
  step(sessions: readonly Session[], ids: readonly (readonly number[])[]): Promise<readonly Float32Array[]>;
  encode(text: string, options: { special: boolean }): Promise<number[]>;
  decode(ids: readonly number[], options: { skipSpecial: boolean }): Promise<string>;
  render(messages: readonly ChatMessage[], options: RenderOptions): Promise<string>;
  /** Scores a text: perplexity, and the divergence from a base. Its steps give way to those of sessions. */
  perplexity(request: PerplexityRequest, options?: PerplexityOptions): Promise<PerplexityResult>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface RenderOptions {
  readonly addGenerationPrompt: boolean;
  readonly tools?: readonly unknown[];
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** What a loaded model tells of itself. */
export interface ModelFacts {
  readonly directory: string;
  readonly plan: ModelPlan;
  readonly configAudit: ConfigAudit;
  readonly weightAudit: WeightAudit;
  /** Elements of all weights, shared ones once. */
  readonly parameters: number;
  readonly weightBytes: number;
  readonly stateBytesPerToken: number;
  readonly kernels: string;
  readonly threads: number;
  readonly quant: Precision | null;
  readonly kvCacheDtype: 'f16' | 'f32';
  readonly loadMilliseconds: number;
  readonly text: TextFacts;
  readonly warnings: readonly string[];
}

/** Where the text side comes from; null source: not there. */
export interface TextFacts {
  readonly tokenizer: string | null;
  readonly template: string | null;
  readonly eos: readonly { readonly id: number; readonly token: string | null; readonly source: string }[];
  readonly bos: { readonly id: number; readonly added: boolean } | null;
  /** Defaults of generation_config.json that stand before kvad's own. */
  readonly sampling: Partial<SamplingOptions>;
}

export interface Engine {
  /** A folder, or null for the default model (the bundled one until `kvad use`). */
  load(model: string | null, options?: LoadOptions): Promise<LoadedModel>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
