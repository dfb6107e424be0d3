import { KvadError } from '../errors/kvad-error.js';

/**
 * Ids of the `k` largest logits, largest first, of equal ones the lower id first; fewer where others are -Infinity, which
 * is a token that cannot be. One pass with a heap of k: of a vocabulary all but a few cost one comparison.
 * Throws KVAD_E_NAN, as `largestOf` does.
 */
export const largestIds = (logits: Float32Array, k: number): Int32Array => {
  const heap = new Int32Array(Math.min(k, logits.length));
  let size = 0;
  let floor = -Infinity;
  // A later id never displaces an equal logit: the lower one is in already.
  for (let id = nextAbove(logits, 0, floor); id < logits.length; id = nextAbove(logits, id + 1, floor)) {
    const logit = logits[id]!;
    if (!(logit < Infinity)) throw new KvadError('KVAD_E_NAN', { id, value: String(logit) });
    if (size < heap.length) {
      heap[size] = id;
      rise(heap, size++, logits);
    } else {
      heap[0] = id;
      sink(heap, logits);
    }
    if (size === heap.length) floor = logits[heap[0]!]!;
  }
  if (size === 0) throw new KvadError('KVAD_E_NAN', { id: 0, value: 'nothing but -Infinity' });
  return heap.subarray(0, size).sort((a, b) => logits[b]! - logits[a]! || a - b);
};

/** The first id from `from` on whose logit is not at most `floor`, as NaN never is; else their number. */
const nextAbove = (x: Float32Array, from: number, floor: number): number => {
  let id = from;
  // Eight at once: the loop's own instructions cost as much as a comparison.
  for (; id + 8 <= x.length; id += 8) {
    const low = x[id]! <= floor && x[id + 1]! <= floor && x[id + 2]! <= floor && x[id + 3]! <= floor;
    const high = x[id + 4]! <= floor && x[id + 5]! <= floor && x[id + 6]! <= floor && x[id + 7]! <= floor;
    if (!(low && high)) break;
  }
  while (id < x.length && x[id]! <= floor) id++;
  return id;
};

/** True if `a` is given up before `b`: smaller, or equal and later. */
const goesFirst = (a: number, b: number, logits: Float32Array): boolean =>
  logits[a]! < logits[b]! || (logits[a] === logits[b] && a > b);

const swap = (heap: Int32Array, a: number, b: number): void => {
  const held = heap[a]!;
  heap[a] = heap[b]!;
  heap[b] = held;
};

/** The heap's top is the one that goes first. */
const rise = (heap: Int32Array, from: number, logits: Float32Array): void => {
  for (let child = from; child > 0;) {
    const parent = (child - 1) >> 1;
    if (!goesFirst(heap[child]!, heap[parent]!, logits)) return;
    swap(heap, parent, child);
    child = parent;
  }
};

const sink = (heap: Int32Array, logits: Float32Array): void => {
  for (let parent = 0; ;) {
    let top = parent;
    for (let child = 2 * parent + 1; child <= 2 * parent + 2 && child < heap.length; child++) {
      if (goesFirst(heap[child]!, heap[top]!, logits)) top = child;
    }
    if (top === parent) return;
    swap(heap, parent, top);
    parent = top;
  }
};
