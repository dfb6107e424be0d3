import type { TokenLogprob } from '../runtime/types.js';
import { expOfNegative } from './exponential.js';
import { largestIds } from './largest.js';

/** ln p of one position before any sampling option: log-softmax in double precision. Throws KVAD_E_NAN. */
export class Logprobs {
  readonly #logits: Float32Array;
  readonly #normaliser: number;

  constructor(logits: Float32Array) {
    const max = logits[largestIds(logits, 1)[0]!]!;
    let total = 0;
    // By index: an iterator makes an object of each of a hundred thousand numbers.
    for (let id = 0; id < logits.length; id++) total += expOfNegative(logits[id]! - max);
    this.#logits = logits;
    this.#normaliser = max + Math.log(total);
  }

  of(id: number): number {
    return this.#logits[id]! - this.#normaliser;
  }

  /** The `count` likeliest tokens, likeliest first; equal ones: the lower id first. */
  top(count: number): TokenLogprob[] {
    const best: number[] = [];
    for (let id = 0; id < this.#logits.length && count > 0; id++) {
      const logit = this.#logits[id]!;
      if (best.length === count && logit <= this.#logits[best[count - 1]!]!) continue;
      const place = best.findIndex((other) => this.#logits[other]! < logit);
      best.splice(place < 0 ? best.length : place, 0, id);
      if (best.length > count) best.pop();
    }
    return best.map((id) => ({ id, logprob: this.of(id) }));
  }
}
