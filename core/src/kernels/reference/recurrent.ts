import type { RecurrentOps, RecurrentSegment } from '../recurrent-ops.js';
import {
  floats,
  requireApart,
  requireInPlaceOrApart,
  requireSameShape,
  shapeError,
  type HostTensor,
} from './host-tensor.js';
import { hostState } from './states.js';
import { hostVector, vectorValues } from './weights.js';

/** The memory of a segment's state, which must have that many values. */
const fixedState = (op: string, { state: handle }: RecurrentSegment, values: number): Float32Array => {
  const state = hostState(handle);
  if (state.grows || state.dtype !== 'f32' || state.width !== values) {
    throw new Error(`${op}: state ${state.name} of ${state.width} values, a fixed f32 state of ${values} is needed`);
  }
  return state.memory.f32;
};

const at = (t: HostTensor, r: number): number => t.offset + r * t.stride;

export const recurrentOps: RecurrentOps = {
  causalConv(xHandle, outHandle, { segments, weight, bias, kernel }) {
    const x = floats('causalConv', 'x', xHandle);
    const out = floats('causalConv', 'out', outHandle);
    requireSameShape('causalConv', x, out);
    requireApart('causalConv', x, out);
    const channels = x.cols;
    const w = hostVector(weight).values;
    if (w.length !== channels * kernel)
      throw shapeError('causalConv', 'weight [channels * kernel]', { x, kernel, weight: w.length });
    const b = vectorValues('causalConv', 'bias', bias, channels);
    const past = kernel - 1;
    for (const segment of segments) {
      const state = fixedState('causalConv', segment, channels * past);
      for (let c = 0; c < channels; c++) {
        const window = state.subarray(c * past, (c + 1) * past);
        for (let t = 0; t < segment.length; t++) {
          const input = x.f32[at(x, segment.start + t) + c]!;
          let sum = (b === null ? 0 : b[c]!) + w[c * kernel + past]! * input;
          for (let j = 0; j < past; j++) sum += w[c * kernel + j]! * window[j]!;
          out.f32[at(out, segment.start + t) + c] = sum;
          window.copyWithin(0, 1);
          if (past > 0) window[past - 1] = input;
        }
      }
    }
  },

  l2Norm(xHandle, outHandle, { size, eps }) {
    const x = floats('l2Norm', 'x', xHandle);
    const out = floats('l2Norm', 'out', outHandle);
    requireSameShape('l2Norm', x, out);
    requireInPlaceOrApart('l2Norm', x, out);
    if (size < 1 || x.cols % size !== 0) throw shapeError('l2Norm', 'size must divide the columns', { x, size });
    for (let r = 0; r < x.rows; r++) {
      for (let c = 0; c < x.cols; c += size) {
        let squares = 0;
        for (let j = 0; j < size; j++) squares += x.f32[at(x, r) + c + j]! ** 2;
        const factor = 1 / Math.sqrt(squares + eps);
        for (let j = 0; j < size; j++) out.f32[at(out, r) + c + j] = x.f32[at(x, r) + c + j]! * factor;
      }
    }
  },

  deltaRule(inputs, outHandle, { segments, keyHeads, valueHeads, keyDim, valueDim }) {
    const q = floats('deltaRule', 'q', inputs.q);
    const k = floats('deltaRule', 'k', inputs.k);
    const v = floats('deltaRule', 'v', inputs.v);
    const decay = floats('deltaRule', 'decay', inputs.decay);
    const beta = floats('deltaRule', 'beta', inputs.beta);
    const out = floats('deltaRule', 'out', outHandle);
    const fits =
      valueHeads % keyHeads === 0 &&
      [q, k].every((t) => t.cols === keyHeads * keyDim) &&
      [v, out].every((t) => t.cols === valueHeads * valueDim) &&
      [decay, beta].every((t) => t.cols === valueHeads);
    if (!fits)
      throw shapeError('deltaRule', 'heads and dims do not fit', { q, k, v, decay, beta, out, keyHeads, valueHeads });
    const group = valueHeads / keyHeads;
    const error = new Float64Array(valueDim);
    for (const segment of segments) {
      const all = fixedState('deltaRule', segment, valueHeads * keyDim * valueDim);
      for (let h = 0; h < valueHeads; h++) {
        const s = all.subarray(h * keyDim * valueDim, (h + 1) * keyDim * valueDim);
        const key = Math.floor(h / group) * keyDim;
        for (let r = segment.start; r < segment.start + segment.length; r++) {
          const fade = Math.exp(decay.f32[at(decay, r) + h]!);
          const write = beta.f32[at(beta, r) + h]!;
          const vAt = at(v, r) + h * valueDim;
          const outAt = at(out, r) + h * valueDim;
          error.fill(0);
          for (let i = 0; i < keyDim; i++) {
            const ki = k.f32[at(k, r) + key + i]!;
            for (let j = 0; j < valueDim; j++) {
              const faded = s[i * valueDim + j]! * fade;
              s[i * valueDim + j] = faded;
              error[j]! += faded * ki;
            }
          }
          for (let j = 0; j < valueDim; j++) error[j] = (v.f32[vAt + j]! - error[j]!) * write;
          const read = new Float64Array(valueDim);
          for (let i = 0; i < keyDim; i++) {
            const ki = k.f32[at(k, r) + key + i]!;
            const qi = q.f32[at(q, r) + key + i]!;
            for (let j = 0; j < valueDim; j++) {
              const written = Math.fround(s[i * valueDim + j]! + ki * error[j]!);
              s[i * valueDim + j] = written;
              read[j]! += written * qi;
            }
          }
          for (let j = 0; j < valueDim; j++) out.f32[outAt + j] = read[j]!;
        }
      }
    }
  },
};
