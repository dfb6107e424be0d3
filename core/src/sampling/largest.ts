/** Indices of the `k` largest values, largest first, of equal ones the lower index first. One pass with a heap of k. */
export const largestIds = (values: Float64Array, k: number): Int32Array => {
  const heap = new Int32Array(k);
  for (let index = 0; index < values.length; index++) {
    if (index < k) {
      heap[index] = index;
      rise(heap, index, values);
      // A later index never displaces an equal value: the lower one is in already.
    } else if (values[index]! > values[heap[0]!]!) {
      heap[0] = index;
      sink(heap, values);
    }
  }
  return heap.sort((a, b) => values[b]! - values[a]! || a - b);
};

/** True if `a` is given up before `b`: smaller, or equal and later. */
const goesFirst = (a: number, b: number, values: Float64Array): boolean =>
  values[a]! < values[b]! || (values[a] === values[b] && a > b);

const swap = (heap: Int32Array, a: number, b: number): void => {
  const held = heap[a]!;
  heap[a] = heap[b]!;
  heap[b] = held;
};

/** The heap's top is the one that goes first. */
const rise = (heap: Int32Array, from: number, values: Float64Array): void => {
  for (let child = from; child > 0;) {
    const parent = (child - 1) >> 1;
    if (!goesFirst(heap[child]!, heap[parent]!, values)) return;
    swap(heap, parent, child);
    child = parent;
  }
};

const sink = (heap: Int32Array, values: Float64Array): void => {
  for (let parent = 0; ;) {
    let top = parent;
    for (let child = 2 * parent + 1; child <= 2 * parent + 2 && child < heap.length; child++) {
      if (goesFirst(heap[child]!, heap[top]!, values)) top = child;
    }
    if (top === parent) return;
    swap(heap, parent, top);
    parent = top;
  }
};
