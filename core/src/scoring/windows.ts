import { KvadError } from '../errors/kvad-error.js';
import type { ScoringMethod } from './types.js';

/** How a run cuts its tokens. */
export interface WindowSettings {
  readonly method: ScoringMethod;
  /** Tokens of a window. */
  readonly ctx: number;
  /** Of sliding windows. */
  readonly stride: number | null;
  /** Windows at most; null: all there are. */
  readonly chunks: number | null;
}

/** Tokens `[begin, end)` are run from an empty state; those from `firstTarget` on are scored, each by the row before it. */
export interface ScoringWindow {
  readonly index: number;
  readonly begin: number;
  readonly end: number;
  readonly firstTarget: number;
}

/**
 * Where the windows of a run lie. Throws KVAD_E_SCORING_TEXT_SHORT.
 *   chunks   [i ctx, (i + 1) ctx), the remainder dropped. Predictions from position ⌊ctx / 2⌋ on are scored, so
 *            ctx - ⌊ctx / 2⌋ - 1 a window. At least two windows of tokens are asked for, as llama-perplexity does.
 *   sliding  [i stride, i stride + ctx), until one reaches the end. Scored is what no window before has scored and what
 *            has a token before it in its own window: no token twice, none without context. A last window that is left
 *            without such a token is none.
 */
export const planWindows = (tokens: number, settings: WindowSettings): ScoringWindow[] => {
  const { method, ctx, chunks } = settings;
  const needed = method === 'chunks' ? 2 * ctx : 2;
  if (tokens < needed) throw new KvadError('KVAD_E_SCORING_TEXT_SHORT', { tokens, needed, method, ctx });
  const windows = method === 'chunks' ? chunkWindows(tokens, ctx) : slidingWindows(tokens, ctx, settings.stride ?? ctx);
  return chunks === null ? windows : windows.slice(0, chunks);
};

const chunkWindows = (tokens: number, ctx: number): ScoringWindow[] =>
  Array.from({ length: Math.floor(tokens / ctx) }, (_, index) => {
    const begin = index * ctx;
    return { index, begin, end: begin + ctx, firstTarget: begin + Math.floor(ctx / 2) + 1 };
  });

const slidingWindows = (tokens: number, ctx: number, stride: number): ScoringWindow[] => {
  const windows: ScoringWindow[] = [];
  for (let begin = 0, scoredTo = 0; scoredTo < tokens; begin += stride) {
    const end = Math.min(begin + ctx, tokens);
    const firstTarget = Math.max(scoredTo, begin + 1);
    if (firstTarget < end) windows.push({ index: windows.length, begin, end, firstTarget });
    scoredTo = end;
  }
  return windows;
};

/** Targets that a window scores. */
export const scoredIn = ({ firstTarget, end }: ScoringWindow): number => end - firstTarget;
