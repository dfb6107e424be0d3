import type { Model } from '../runtime/model.js';
import { prefill } from '../runtime/prefill.js';
import type { Scheduler } from '../runtime/scheduler.js';
import type { Sequence } from '../runtime/sequence.js';
import type { Base, Protocol } from './base.js';
import type { BaseWriter } from './base-writer.js';
import { Row } from './divergence.js';
import { sumTokens, type KldToken } from './kld-totals.js';
import { sumsOf } from './mean.js';
import type { WindowOutcome } from './window-outcome.js';
import { scoredIn, type ScoringWindow } from './windows.js';

/** What windows are scored with. */
export interface WindowScorer {
  readonly model: Model;
  readonly scheduler: Scheduler;
  /** Its states are of one window at a time. */
  readonly sequence: Sequence;
  /** Rows of one forward. */
  readonly chunk: number;
  readonly protocol: Protocol;
  readonly base: Base | null;
  readonly writer: BaseWriter | null;
  readonly signal: AbortSignal;
}

/**
 * Runs a window through the prefill that serves requests, from an empty state, and scores its targets as their rows come:
 * NLL = -(logit - logsumexp). `firstRow`: scored tokens of the windows before.
 */
export const scoreWindow = async (
  scorer: WindowScorer,
  window: ScoringWindow,
  firstRow: number,
): Promise<WindowOutcome> => {
  const { model, scheduler, sequence, chunk, protocol, base, writer, signal } = scorer;
  const { vocabSize } = model.plan;
  const started = performance.now();
  const first = window.firstTarget - 1 - window.begin;
  const nlls: number[] = [];
  const compared: KldToken[] = [];
  const score = (logits: Float32Array): void => {
    const index = firstRow + nlls.length;
    const target = protocol.ids[window.firstTarget + nlls.length]!;
    const row = new Row(logits);
    const nll = -row.logprob(target);
    nlls.push(nll);
    writer?.write(index, row, target);
    if (base) {
      const { nll: baseNll, ...rest } = base.compare(index, row, target);
      compared.push({ nll, baseNll, ...rest });
    }
  };
  const sink = {
    from: first,
    to: first + scoredIn(window),
    take: (block: Float32Array) => {
      for (let at = 0; at < block.length; at += vocabSize) score(block.subarray(at, at + vocabSize));
    },
  };
  signal.throwIfAborted();
  sequence.reset();
  // The sink takes all logits: the prefill gives none.
  await prefill(model, scheduler, sequence, inputIds(protocol, window), {
    chunk,
    logits: sink,
    signal,
    background: true,
  }).next();
  return {
    index: window.index,
    nll: sumsOf(nlls),
    seconds: (performance.now() - started) / 1000,
    kld: base === null ? null : sumTokens(compared),
  };
};

/** In `chunks` a BOS takes the place of the first id of each window: what stood there is lost as context. */
const inputIds = ({ ids, method, bos }: Protocol, { begin, end }: ScoringWindow): number[] => {
  const input = Array.from(ids.subarray(begin, end));
  if (method === 'chunks' && bos !== null) input[0] = bos;
  return input;
};
