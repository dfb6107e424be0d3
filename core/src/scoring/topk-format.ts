import type { BaseComparison, BaseFormat } from './base.js';
import { divergenceTerm, type Row } from './divergence.js';

/**
 * A row of kvad's base: the k likeliest ids and the rest as one outcome, k + 1 of them. Little-endian:
 *   +0        float64      NLL of the token that came
 *   +8        float32      ln p of the rest
 *   +12       float32[k-1] ln p of the ids but the first
 *   +8 + 4k   int32[k]     ids, likeliest first
 * The outcomes sum to 1, so that the first id's probability is what the others leave. It is the largest of the ids:
 * there the rounding of the others weighs least, and a base compared with its own model gives 0, not noise.
 */
export const topkFormat = (header: Buffer, k: number): BaseFormat => ({
  header,
  rowBytes: topkRowBytes(k),
  encode: (row, target, bytes) => {
    const ids = row.top(k);
    bytes.writeDoubleLE(-row.logprob(target), 0);
    bytes.writeFloatLE(row.restLogprob(ids), 8);
    for (let i = 1; i < k; i++) bytes.writeFloatLE(row.logprob(ids[i]!), 8 + 4 * i);
    for (let i = 0; i < k; i++) bytes.writeInt32LE(ids[i]!, 8 + 4 * (k + i));
  },
});

/** 264 bytes at k = 32. */
export const topkRowBytes = (k: number): number => 8 + 8 * k;

/** KL = Σ_top p (ln p - ln q) + p_rest (ln p_rest - ln q_rest): never more than that of the whole vocabulary. */
export const compareTopk = (bytes: Buffer, k: number, row: Row): BaseComparison => {
  const ids = Int32Array.from({ length: k }, (_, i) => bytes.readInt32LE(8 + 4 * (k + i)));
  const rest = bytes.readFloatLE(8);
  let others = Math.exp(rest);
  let kld = divergenceTerm(rest, row.restLogprob(ids));
  for (let i = 1; i < k; i++) {
    const logP = bytes.readFloatLE(8 + 4 * i);
    others += Math.exp(logP);
    kld += divergenceTerm(logP, row.logprob(ids[i]!));
  }
  kld += divergenceTerm(Math.log1p(-others), row.logprob(ids[0]!));
  return { nll: bytes.readDoubleLE(0), kld, sameTop: row.best() === ids[0], topMass: 1 - Math.exp(rest) };
};
