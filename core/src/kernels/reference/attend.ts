import type { AttendOptions, KvSegment, Ops } from '../ops.js';
import { dot } from './dot.js';
import { floats, requireApart, shapeError, type HostTensor } from './host-tensor.js';
import { hostState, type HostState } from './states.js';
import { vectorValues } from './weights.js';

/** The first key that a query at this position sees; the last one is its own. */
const firstKey = (position: number, window: number | null, chunk: number | null): number =>
  Math.max(0, window === null ? 0 : position - window + 1, chunk === null ? 0 : Math.floor(position / chunk) * chunk);

interface Cache {
  readonly keys: HostState;
  readonly values: HostState;
}

const openCache = (segment: KvSegment, q: HostTensor, options: AttendOptions): Cache => {
  const { kvHeads, keyDim, valueDim } = options;
  const keys = hostState(segment.keys);
  const values = hostState(segment.values);
  const within = values === keys && kvHeads === 1 && valueDim <= keyDim;
  if (keys.width !== kvHeads * keyDim || (values.width !== kvHeads * valueDim && !within)) {
    throw shapeError('attend', 'keys [tokens, kvHeads * keyDim], values [tokens, kvHeads * valueDim]', {
      keys: { rows: keys.length, cols: keys.width },
      values: { rows: values.length, cols: values.width },
      kvHeads,
      keyDim,
      valueDim,
    });
  }
  const { start, length, position } = segment;
  if (start < 0 || length < 0 || start + length > q.rows) {
    throw shapeError('attend', 'a segment must lie within the rows of q', { q, start, length });
  }
  if (position < 0 || keys.length < position + length || values.length < position + length) {
    throw shapeError('attend', "this call's keys and values must have been appended", {
      position,
      length,
      keys: keys.length,
      values: values.length,
    });
  }
  return { keys, values };
};

/**
 * Causal softmax attention. For a query at position p of head h, with g = ⌊h / (heads / kvHeads)⌋ and keys j in
 * [max(0, p - window + 1, ⌊p / chunk⌋ chunk), p]:
 *   s_j = scale q·k_{g,j} + slope_h (j - p);   s_j = cap tanh(s_j / cap) where there is a cap
 *   out = Σ_j e^{s_j} v_{g,j} / (Σ_j e^{s_j} + e^{sink_h})
 * q [rows, heads * keyDim], out [rows, heads * valueDim]. Rows outside of all segments are left as they are.
 * Sources: arXiv:1706.03762; ALiBi arXiv:2108.12409; sinks arXiv:2309.17453.
 */
export const attendOps: Pick<Ops, 'attend'> = {
  attend(qHandle, outHandle, options) {
    const { heads, kvHeads, keyDim, valueDim, scale, window, chunk, softcap } = options;
    const q = floats('attend', 'q', qHandle);
    const out = floats('attend', 'out', outHandle);
    if (q.cols !== heads * keyDim || out.cols !== heads * valueDim || q.rows !== out.rows) {
      throw shapeError('attend', 'q [rows, heads * keyDim], out [rows, heads * valueDim]', {
        q,
        out,
        heads,
        keyDim,
        valueDim,
      });
    }
    if (heads % kvHeads !== 0) throw shapeError('attend', 'kvHeads must divide heads', { heads, kvHeads });
    if ((window !== null && window < 1) || (chunk !== null && chunk < 1)) {
      throw new Error(`attend: a query sees at least its own key; window ${window}, chunk ${chunk}`);
    }
    requireApart('attend', q, out);
    const sinks = vectorValues('attend', 'sinks', options.sinks, heads);
    const slopes = vectorValues('attend', 'slopes', options.slopes, heads);
    const group = heads / kvHeads;
    const longest = options.segments.reduce((most, s) => Math.max(most, s.position + s.length), 0);
    const scores = new Float64Array(longest);
    const mixed = new Float64Array(valueDim);

    for (const segment of options.segments) {
      const { keys, values } = openCache(segment, q, options);
      const k = keys.memory.f32;
      const v = values.memory.f32;
      for (let i = 0; i < segment.length; i++) {
        const row = segment.start + i;
        const position = segment.position + i;
        const first = firstKey(position, window, chunk);
        for (let head = 0; head < heads; head++) {
          const kvHead = Math.floor(head / group);
          const qFrom = q.offset + row * q.stride + head * keyDim;
          const slope = slopes === null ? 0 : slopes[head]!;
          let highest = sinks === null ? -Infinity : sinks[head]!;
          for (let j = first; j <= position; j++) {
            let score = scale * dot(q.f32, qFrom, k, j * keys.width + kvHead * keyDim, keyDim) + slope * (j - position);
            if (softcap !== null) score = softcap * Math.tanh(score / softcap);
            if (score > highest) highest = score;
            scores[j] = score;
          }
          let total = sinks === null ? 0 : Math.exp(sinks[head]! - highest);
          mixed.fill(0);
          for (let j = first; j <= position; j++) {
            const weight = Math.exp(scores[j]! - highest);
            total += weight;
            const vFrom = j * values.width + kvHead * valueDim;
            for (let d = 0; d < valueDim; d++) mixed[d]! += weight * v[vFrom + d]!;
          }
          const to = out.offset + row * out.stride + head * valueDim;
          for (let d = 0; d < valueDim; d++) out.f32[to + d] = mixed[d]! / total;
        }
      }
    }
  },
};
