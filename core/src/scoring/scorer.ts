import { KvadError } from '../errors/kvad-error.js';
import { Sequence } from '../runtime/sequence.js';
import type { ScoredModel } from './perplexity.js';
import type { PerplexityOptions, PerplexityRequest, PerplexityResult } from './types.js';

/** A window is never cut back: no snapshots are taken on its way. */
const NO_WAY_BACK = { every: Infinity, budget: 0 };

/** The scoring runs of a model. Their steps give way to those of its sessions. */
export class Scorer {
  readonly #scored: ScoredModel;
  readonly #running = new Map<Sequence, AbortController>();

  constructor(scored: ScoredModel) {
    this.#scored = scored;
  }

  async perplexity(
    request: PerplexityRequest,
    { signal, onProgress = () => undefined }: PerplexityOptions = {},
  ): Promise<PerplexityResult> {
    const closing = new AbortController();
    const sequence = new Sequence(this.#scored.model, NO_WAY_BACK);
    this.#running.set(sequence, closing);
    try {
      // Most models are never scored: what it takes is loaded for those that are.
      const { perplexity } = await import('./perplexity.js');
      return await perplexity(this.#scored, request, {
        sequence,
        signal: signal ? AbortSignal.any([signal, closing.signal]) : closing.signal,
        onProgress,
      });
    } finally {
      if (this.#running.delete(sequence)) sequence.free();
    }
  }

  /** Frees at once; runs that are under way are refused. */
  close(): void {
    const reason = new KvadError('KVAD_E_CLOSED', { what: 'model' });
    for (const [sequence, closing] of this.#running) {
      closing.abort(reason);
      this.#scored.scheduler.cancel(sequence, reason);
      sequence.free();
    }
    this.#running.clear();
  }
}
