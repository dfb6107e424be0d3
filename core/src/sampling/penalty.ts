/**
 * Repeat penalty (CTRL, arXiv:1909.05858, in the form that also handles negative logits): each token among `recent`
 * has its logit divided by the penalty where it is positive and multiplied where it is negative, once however often
 * it occurred. Changes `logits` in place.
 */
export const penaliseRepeats = (logits: Float64Array, recent: Iterable<number>, penalty: number): void => {
  if (penalty === 1) return;
  for (const id of new Set(recent)) {
    const logit = logits[id];
    if (logit !== undefined) logits[id] = logit > 0 ? logit / penalty : logit * penalty;
  }
};
