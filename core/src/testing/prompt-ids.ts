/** Token ids that look like chance and are the same every time, for checkpoints without a reference. */
export const promptIds = (vocabSize: number, count: number): Int32Array => {
  let state = 0x9e3779b9;
  return Int32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * vocabSize);
  });
};
