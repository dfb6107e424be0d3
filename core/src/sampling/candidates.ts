/**
 * Tokens that may still be drawn, heaviest first where a filter has sorted them, else by id. Weights are
 * unnormalised probabilities: the heaviest token weighs 1.
 */
export interface Candidates {
  readonly ids: Int32Array;
  readonly weights: Float64Array;
  readonly sorted: boolean;
}

/** weight_i = exp((logit_i - max) / temperature), in double precision. */
export const weigh = (logits: Float64Array, max: number, temperature: number): Candidates => ({
  ids: Int32Array.from(logits, (_, id) => id),
  weights: logits.map((logit) => Math.exp((logit - max) / temperature)),
  sorted: false,
});

/** The `k` heaviest; equal weights: the lower id first. */
export const keepTopK = (candidates: Candidates, k: number): Candidates => {
  const count = candidates.ids.length;
  if (k === 0 || (k >= count && candidates.sorted)) return candidates;
  return take(candidates, heaviest(candidates, Math.min(k, count)));
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
  const kept: number[] = [];
  candidates.weights.forEach((weight, index) => {
    if (weight >= p) kept.push(index);
  });
  return take(candidates, kept, candidates.sorted);
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

const sum = (weights: Float64Array): number => weights.reduce((total, weight) => total + weight, 0);

const first = (candidates: Candidates, count: number): Candidates => ({
  ids: candidates.ids.subarray(0, count),
  weights: candidates.weights.subarray(0, count),
  sorted: candidates.sorted,
});

const take = ({ ids, weights }: Candidates, indices: readonly number[], sorted = true): Candidates => ({
  ids: Int32Array.from(indices, (index) => ids[index]!),
  weights: Float64Array.from(indices, (index) => weights[index]!),
  sorted,
});

const heavierFirst =
  ({ weights }: Candidates) =>
  (a: number, b: number): number =>
    weights[b]! - weights[a]! || a - b;

/**
 * Sorted from the heaviest down to at least `mass` of weight. Instead of sorting the vocabulary, takes those above
 * a falling threshold until they hold the mass: all that is left out is lighter than all that is taken.
 */
const sortedDownTo = (candidates: Candidates, mass: number): Candidates => {
  for (let threshold = 2 ** -8; ; threshold *= threshold) {
    const indices: number[] = [];
    let held = 0;
    candidates.weights.forEach((weight, index) => {
      if (weight < threshold) return;
      indices.push(index);
      held += weight;
    });
    if (held >= mass || threshold === 0) return take(candidates, indices.sort(heavierFirst(candidates)));
  }
};

/** Indices of the `k` heaviest, heaviest first: a heap with the lightest of them on top. */
const heaviest = (candidates: Candidates, k: number): number[] => {
  const compare = heavierFirst(candidates);
  const heap: number[] = [];
  const sink = (): void => {
    for (let parent = 0; ;) {
      let lightest = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2]) {
        if (child < heap.length && compare(heap[child]!, heap[lightest]!) > 0) lightest = child;
      }
      if (lightest === parent) return;
      [heap[parent], heap[lightest]] = [heap[lightest]!, heap[parent]!];
      parent = lightest;
    }
  };
  const rise = (): void => {
    for (let child = heap.length - 1; child > 0;) {
      const parent = (child - 1) >> 1;
      if (compare(heap[child]!, heap[parent]!) <= 0) return;
      [heap[parent], heap[child]] = [heap[child]!, heap[parent]!];
      child = parent;
    }
  };
  for (let index = 0; index < candidates.ids.length; index++) {
    if (heap.length < k) {
      heap.push(index);
      rise();
    } else if (compare(index, heap[0]!) < 0) {
      heap[0] = index;
      sink();
    }
  }
  return heap.sort(compare);
};
