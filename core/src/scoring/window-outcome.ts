import type { KldTokens } from './kld-totals.js';
import type { Sums } from './mean.js';

/** All that the result needs of a window that is done. */
export interface WindowOutcome {
  readonly index: number;
  readonly nll: Sums;
  readonly seconds: number;
  /** null: nothing is compared. */
  readonly kld: KldTokens | null;
}
