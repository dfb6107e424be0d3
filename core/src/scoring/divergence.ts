import { expOfNegative } from '../sampling/exponential.js';
import { Logprobs } from '../sampling/logprobs.js';
import { largestIds } from '../sampling/largest.js';

/** ln p of one row in double precision, with what a comparison needs of it. Throws KVAD_E_NAN. */
export class Row {
  readonly logits: Float32Array;
  readonly #logprobs: Logprobs;

  constructor(logits: Float32Array) {
    this.logits = logits;
    this.#logprobs = new Logprobs(logits);
  }

  logprob(id: number): number {
    return this.#logprobs.of(id);
  }

  /** The `k` likeliest ids, likeliest first; of equal ones the lower first. */
  top(k: number): Int32Array {
    return Int32Array.from(this.#logprobs.top(k), ({ id }) => id);
  }

  /** The likeliest id; of equal ones the lowest. */
  best(): number {
    return largestIds(this.logits, 1)[0]!;
  }

  /** ln of the probability of all ids but these, summed over them: what is missing to 1 would be rounding noise. */
  restLogprob(ids: Int32Array): number {
    let sum = 0;
    let from = 0;
    for (const id of [...ids].sort((a, b) => a - b)) {
      for (; from < id; from++) sum += expOfNegative(this.logprob(from));
      from = id + 1;
    }
    for (; from < this.logits.length; from++) sum += expOfNegative(this.logprob(from));
    return Math.log(sum);
  }
}

/** p (ln p - ln q): what one outcome adds to a divergence; an outcome that does not occur adds nothing. */
export const divergenceTerm = (logP: number, logQ: number): number =>
  logP === -Infinity ? 0 : Math.exp(logP) * (logP - logQ);
