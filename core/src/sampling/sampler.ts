import type { SamplingOptions } from '../runtime/types.js';
import { drawAt, keepMinP, keepTopP, likeliest, weigh } from './candidates.js';
import { penaliseRepeats } from './penalty.js';
import { Random } from './random.js';

/**
 * One token from the logits of one position, in double precision:
 *
 *   repeat penalty -> temperature -> top-k -> top-p -> min-p -> draw
 *
 * The penalty acts on raw logits, since it asks for their sign. Temperature comes before the filters because top-p and
 * min-p speak of probabilities, and those that they should speak of are the ones drawn from; top-k does not care.
 * Each filter sees what the one before it left: top-p is a share of the k kept, not of the vocabulary.
 * This is the order of the processors and warpers of transformers (`GenerationMixin._get_logits_processor`); llama.cpp
 * applies temperature last. One difference to transformers: of several tokens that tie for place k exactly k are kept,
 * the lower ids.
 *
 * Temperature 0 takes the largest logit after the penalty, of equal ones the lowest id, and draws no random number.
 */
export class Sampler {
  readonly #options: SamplingOptions;
  readonly #random: Random;

  constructor(options: SamplingOptions) {
    this.#options = options;
    this.#random = Random.seeded(options.seed);
  }

  /** `context`: all tokens so far; the penalty looks at the last `repeatWindow`. Throws KVAD_E_NAN. */
  next(logits: Float32Array, context: readonly number[]): number {
    const { temperature, topK, topP, minP, repeatPenalty, repeatWindow } = this.#options;
    const recent = repeatPenalty === 1 || repeatWindow === 0 ? [] : context.slice(-repeatWindow);
    const penalised = penaliseRepeats(logits, recent, repeatPenalty);
    // Choosing before weighing saves the vocabulary's exponentials and changes nothing: temperature keeps the order.
    if (temperature === 0) return likeliest(logits, 1, penalised).ids[0]!;
    const weighed = weigh(likeliest(logits, topK, penalised), temperature);
    const candidates = keepMinP(keepTopP(weighed, topP), minP);
    return drawAt(candidates, this.#random.uniform());
  }
}
