import type { BaseComparison, BaseFormat, Protocol } from './base.js';
import type { Row } from './divergence.js';

/**
 * llama.cpp's base file, of the whole vocabulary in 16 bits a token. Little-endian:
 *   `_logits_`, int32 n_ctx, n_vocab, n_chunk, int32[n_chunk n_ctx] ids before any BOS takes a place; then a row of
 *   float32 scale, float32 min_log_prob, uint16[n_vocab, rounded up to even] q  with  ln p = scale q + min_log_prob.
 * It says nothing of model, tokenizer and BOS.
 */
export const FULL_MAGIC = '_logits_';
export const FULL_PREFIX_BYTES = 20;

const evenUp = (count: number): number => count + (count % 2);

export const fullRowBytes = (vocabSize: number): number => 8 + 2 * evenUp(vocabSize);

export const fullHeader = ({ ctx, vocabSize, windows, ids }: Protocol): Buffer => {
  const bytes = Buffer.alloc(FULL_PREFIX_BYTES + 4 * windows * ctx);
  bytes.write(FULL_MAGIC, 0, 'latin1');
  [ctx, vocabSize, windows].forEach((value, index) => bytes.writeInt32LE(value, 8 + 4 * index));
  for (let i = 0; i < windows * ctx; i++) bytes.writeInt32LE(ids[i]!, FULL_PREFIX_BYTES + 4 * i);
  return bytes;
};

export const fullFormat = (protocol: Protocol): BaseFormat => ({
  header: fullHeader(protocol),
  rowBytes: fullRowBytes(protocol.vocabSize),
  encode: encodeFull,
});

/** Ids more than this many nats under the best are raised to it. */
const DEPTH = 16;
const STEPS = 65535;
const f32 = Math.fround;

/** In float32 where llama.cpp computes in float32, so that files of both agree. */
const encodeFull = ({ logits }: Row, _target: number, bytes: Buffer): void => {
  let max = -Infinity;
  let smallest = Infinity;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit > max) max = logit;
    if (logit < smallest) smallest = logit;
  }
  const min = Math.max(smallest, f32(max - DEPTH));
  let sum = 0;
  for (let id = 0; id < logits.length; id++) sum += Math.exp(f32(logits[id]! - max));
  const scale = f32(f32(max - min) / STEPS);
  bytes.fill(0);
  bytes.writeFloatLE(scale, 0);
  bytes.writeFloatLE(f32(f32(min - max) - f32(Math.log(sum))), 4);
  if (scale === 0) return;
  const inverse = f32(1 / scale);
  for (let id = 0; id < logits.length; id++) {
    if (logits[id]! > min) bytes.writeUInt16LE(nearestEven(f32(f32(logits[id]! - min) * inverse)), 8 + 2 * id);
  }
};

/** Of a value from 0 to 65535 and a little; ties go to the even one. */
const nearestEven = (value: number): number => {
  const floor = Math.floor(value);
  const above = value - floor;
  const rounded = above > 0.5 || (above === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
  return Math.min(rounded, STEPS);
};

/**
 * KL = Σ p (ln p - ln q) over the ids that the file holds above e^-16, as llama.cpp compares: nothing is renormalised,
 * so that p sums to 1 only within the rounding, and the divergence of nearly equal models may lie below 0.
 */
export const compareFull = (bytes: Buffer, row: Row, target: number): BaseComparison => {
  const scale = bytes.readFloatLE(0);
  const min = bytes.readFloatLE(4);
  const at = (id: number): number => bytes.readUInt16LE(8 + 2 * id);
  let kld = 0;
  let best = 0;
  for (let id = 0; id < row.logits.length; id++) {
    const q = at(id);
    if (q > at(best)) best = id;
    const logP = scale * q + min;
    if (logP > -DEPTH) kld += Math.exp(logP) * (logP - row.logprob(id));
  }
  return { nll: -(scale * at(target) + min), kld, sameTop: row.best() === best, topMass: null };
};
