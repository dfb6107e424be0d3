import type { ModelPlan } from '@kvad/schemas';

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

export interface GenerateOptions extends Partial<SamplingOptions> {
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
  /** Top log-probabilities to give with each token; 0 or absent: none. */
  readonly logprobs?: number;
  readonly signal?: AbortSignal;
}

export type FinishReason = 'stop' | 'stop-string' | 'length' | 'context' | 'aborted';

/** A sequence of a model. Not to be used from two places at once. */
export interface Session {
  /** Tokens whose state is held. */
  readonly length: number;
  readonly tokens: readonly number[];
  /**
   * Runs tokens through the model, in chunks of the batch size. `logits`: of which rows they are returned:
   * `last` [1, vocab], `all` [ids.length, vocab], or none.
   */
  prefill(
    ids: readonly number[],
    options?: { logits?: 'none' | 'last' | 'all'; signal?: AbortSignal; chunk?: number },
  ): Promise<Float32Array>;
  /** Forgets tokens from `length` on; returns where it landed, at most `length` (state that cannot be cut lands on a snapshot). */
  truncate(length: number): Promise<number>;
  snapshot(): Promise<SnapshotHandle>;
  restore(handle: SnapshotHandle): Promise<number>;
  close(): Promise<void>;
}

export interface SnapshotHandle {
  readonly id: number;
  readonly length: number;
  readonly bytes: number;
}

/** What a loaded model tells of itself. */
export interface ModelFacts {
  readonly directory: string;
  readonly plan: ModelPlan;
  readonly parameters: number;
  readonly weightBytes: number;
  readonly kernels: string;
  readonly threads: number;
}
