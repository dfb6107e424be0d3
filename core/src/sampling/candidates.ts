import { expOfNegative } from './exponential.js';
import { largestOf } from './finite.js';
import { largestIds } from './largest.js';

/**
 * Tokens that may still be drawn, heaviest first where a filter has sorted them, else by id. Weights are
 * unnormalised probabilities: the heaviest token weighs 1.
 */
export interface Candidates {
  readonly ids: Int32Array;
  readonly weights: Float64Array;
  readonly sorted: boolean;
}

/** Tokens and their logits in double precision, likeliest first where `sorted`, else by id. */
export interface Scored {
  readonly ids: Int32Array;
  readonly logits: Float64Array;
  readonly sorted: boolean;
}

/**
 * The `k` tokens of the largest logits (of equal ones the lower ids; 0: all tokens), those in `changed` with the logits
 * that stand there. Of the tokens that keep theirs the k best are among the best k + changed. Throws KVAD_E_NAN.
 */
export const likeliest = (
  logits: Float32Array,
  k: number,
  changed: ReadonlyMap<number, number> = new Map(),
): Scored => {
  if (k === 0) {
    largestOf(logits);
    const scored = new Float64Array(logits);
    for (const [id, logit] of changed) scored[id] = logit;
    return { ids: allIds(logits.length), logits: scored, sorted: false };
  }
  const best = largestIds(logits, k + changed.size);
  if (changed.size === 0) return { ids: best, logits: Float64Array.from(best, (id) => logits[id]!), sorted: true };
  const ids = Int32Array.from([...best.filter((id) => !changed.has(id)), ...changed.keys()]);
  const of = (id: number): number => changed.get(id) ?? logits[id]!;
  const kept = ids.sort((a, b) => compare(of(b), of(a)) || a - b).subarray(0, k);
  return { ids: kept, logits: Float64Array.from(kept, of), sorted: true };
};

/** Each of the weight exp((logit - max) / temperature). */
export const weigh = ({ ids, logits, sorted }: Scored, temperature: number): Candidates => {
  const max = sorted ? logits[0]! : largestOf(logits);
  const weights = new Float64Array(ids.length);
  for (let i = 0; i < ids.length; i++) weights[i] = expOfNegative((logits[i]! - max) / temperature);
  return { ids, weights, sorted };
};

/** The shortest run of the heaviest that holds at least `p` of all the weight; the token that crosses is kept. */
export const keepTopP = (candidates: Candidates, p: number): Candidates => {
  if (p >= 1) return candidates;
  const target = p * sum(candidates.weights);
  const sorted = candidates.sorted ? candidates : sortedDownTo(candidates, target);
  let held = 0;
  let count = 0;
  while (count < sorted.ids.length && held < target) held += sorted.weights[count++]!;
  return first(sorted, Math.max(1, count));
};

/** Those of at least `p` times the weight of the heaviest. */
export const keepMinP = (candidates: Candidates, p: number): Candidates => {
  if (p <= 0) return candidates;
  return take(candidates, indicesFrom(candidates.weights, p), candidates.sorted);
};

/** The candidate at fraction `u` in [0, 1) of the cumulative weight, in the order in which they stand. */
export const drawAt = ({ ids, weights }: Candidates, u: number): number => {
  const target = u * sum(weights);
  let cumulative = 0;
  let last = 0;
  for (let index = 0; index < ids.length; index++) {
    if (weights[index] === 0) continue;
    cumulative += weights[index]!;
    last = index;
    if (cumulative > target) break;
  }
  return ids[last]!;
};

/** Two tokens that cannot be are equal: their difference is no number. */
const compare = (a: number, b: number): number => (a < b ? -1 : Number(a > b));

const allIds = (count: number): Int32Array => {
  const ids = new Int32Array(count);
  for (let id = 0; id < count; id++) ids[id] = id;
  return ids;
};

const sum = (weights: Float64Array): number => {
  let total = 0;
  for (const weight of weights) total += weight;
  return total;
};

const first = (candidates: Candidates, count: number): Candidates => ({
  ids: candidates.ids.subarray(0, count),
  weights: candidates.weights.subarray(0, count),
  sorted: candidates.sorted,
});

const take = ({ ids, weights }: Candidates, indices: readonly number[], sorted: boolean): Candidates => ({
  ids: Int32Array.from(indices, (index) => ids[index]!),
  weights: Float64Array.from(indices, (index) => weights[index]!),
  sorted,
});

const indicesFrom = (weights: Float64Array, least: number): number[] => {
  const indices: number[] = [];
  for (let index = 0; index < weights.length; index++) if (weights[index]! >= least) indices.push(index);
  return indices;
};

/**
 * Sorted from the heaviest down to at least `mass` of weight. Instead of sorting the vocabulary, takes those above
 * a falling threshold until they hold the mass: all that is left out is lighter than all that is taken.
 */
const sortedDownTo = (candidates: Candidates, mass: number): Candidates => {
  const { weights } = candidates;
  for (let threshold = 2 ** -4; ; threshold = threshold > 2 ** -64 ? threshold / 4 : 0) {
    const indices = indicesFrom(weights, threshold);
    let held = 0;
    for (const index of indices) held += weights[index]!;
    if (held >= mass || threshold === 0) {
      return take(
        candidates,
        indices.sort((a, b) => weights[b]! - weights[a]! || a - b),
        true,
      );
    }
  }
};
