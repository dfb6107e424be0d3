import { KvadError } from '../errors/kvad-error.js';

/**
 * Repeat penalty (CTRL, arXiv:1909.05858, in the form that also handles negative logits): each token among `recent`
 * has its logit divided by the penalty where it is positive and multiplied where it is negative, once however often
 * it occurred. Gives these tokens' new logits; all others keep theirs.
 * Throws KVAD_E_NAN where one is infinite.
 */
export const penaliseRepeats = (
  logits: Float32Array,
  recent: Iterable<number>,
  penalty: number,
): ReadonlyMap<number, number> => {
  const penalised = new Map<number, number>();
  for (const id of recent) {
    const logit = logits[id];
    if (logit === undefined) continue;
    const changed = logit > 0 ? logit / penalty : logit * penalty;
    if (changed === Infinity) throw new KvadError('KVAD_E_NAN', { id, value: String(changed) });
    penalised.set(id, changed);
  }
  return penalised;
};
