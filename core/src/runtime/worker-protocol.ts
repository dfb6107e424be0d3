import type { PerplexityProgress, PerplexityRequest, PerplexityResult } from '../scoring/types.js';
import type { ChatMessage } from '../text/types.js';
import type { GenerateEvent, GenerateOptions, ModelFacts, Prompt, RenderOptions, SnapshotHandle } from './types.js';
import type { WireError } from './wire-error.js';

/**
 * What the engine asks the worker of a model, and what it answers. The first call is `load`, the last one `close`.
 * Sessions and snapshots are numbers here.
 */
export interface Calls {
  load: { request: { data: unknown }; result: ModelFacts };
  session: { request: object; result: number };
  prefill: {
    request: { session: number; ids: readonly number[]; logits: 'none' | 'last' | 'all'; chunk: number | null };
    result: Float32Array;
  };
  generate: { request: { session: number; prompt: Prompt; options: Omit<GenerateOptions, 'signal'> }; result: null };
  truncate: { request: { session: number; length: number }; result: number };
  snapshot: { request: { session: number }; result: SnapshotHandle };
  restore: { request: { session: number; handle: SnapshotHandle }; result: number };
  forget: { request: { session: number; handle: SnapshotHandle }; result: null };
  closeSession: { request: { session: number }; result: null };
  step: {
    request: { sessions: readonly number[]; ids: readonly (readonly number[])[] };
    result: readonly Float32Array[];
  };
  encode: { request: { text: string; options: { special: boolean } }; result: number[] };
  decode: { request: { ids: readonly number[]; options: { skipSpecial: boolean } }; result: string };
  render: { request: { messages: readonly ChatMessage[]; options: RenderOptions }; result: string };
  perplexity: { request: { request: PerplexityRequest }; result: PerplexityResult };
  close: { request: object; result: null };
}
export type Method = keyof Calls;

/** What a call tells before its result. */
export interface Events {
  generate: GenerateEvent;
  perplexity: PerplexityProgress;
}
export type EventOf<M extends Method> = M extends keyof Events ? Events[M] : never;

export type ToWorker =
  | {
      [M in Method]: {
        readonly type: 'call';
        readonly call: number;
        readonly method: M;
        readonly request: Calls[M]['request'];
        /** The caller's signal had been aborted before the call. */
        readonly aborted: boolean;
      };
    }[Method]
  | { readonly type: 'abort'; readonly call: number };

/** The tokens of a session after a call: the first `keep` of those before, then `added`. */
export interface HeldChange {
  readonly session: number;
  readonly keep: number;
  readonly added: readonly number[];
}

export type FromWorker =
  | { readonly type: 'result'; readonly call: number; readonly value: unknown }
  | { readonly type: 'event'; readonly call: number; readonly event: Events[keyof Events] }
  | { readonly type: 'error'; readonly call: number; readonly error: WireError }
  /** The call ended because of its abort; sent instead of a result. */
  | { readonly type: 'aborted'; readonly call: number }
  /** Sent before what ends the call that changed it. */
  | { readonly type: 'held'; readonly change: HeldChange }
  /** All warnings of the model, when there are more than before. */
  | { readonly type: 'warnings'; readonly warnings: readonly string[] };
