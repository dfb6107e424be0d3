import { KvadError } from '../errors/kvad-error.js';

/**
 * The largest logit. -Infinity is a token that cannot be; NaN, +Infinity or nothing but -Infinity is a computation
 * that went wrong and would be sampled as if it had not. Throws KVAD_E_NAN.
 */
export const largestOf = (logits: Float32Array | Float64Array): number => {
  let max = -Infinity;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (Number.isNaN(logit) || logit === Infinity) throw new KvadError('KVAD_E_NAN', { id, value: String(logit) });
    if (logit > max) max = logit;
  }
  if (max === -Infinity) throw new KvadError('KVAD_E_NAN', { id: 0, value: 'nothing but -Infinity' });
  return max;
};
