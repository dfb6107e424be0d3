import type { Ops } from '../ops.js';
import { floats, shapeError } from './host-tensor.js';

/**
 * Rotary positions. Each pair (a, b) of a head's rotated columns turns by its angle φ of this row:
 *   a' = a cos φ - b sin φ,   b' = b cos φ + a sin φ      (inverse: -φ)
 * With m = dims / 2 pairs, pair i is `half`: columns (i, i + m); `interleaved`: (2i, 2i + 1), both counted from `from`.
 * x [rows, heads * headDim], cos and sin [rows, m]. Source: arXiv:2104.09864.
 */
export const ropeOps: Pick<Ops, 'rope'> = {
  rope(xHandle, angles, { heads, headDim, from, layout, inverse }) {
    const x = floats('rope', 'x', xHandle);
    const cos = floats('rope', 'cos', angles.cos);
    const sin = floats('rope', 'sin', angles.sin);
    const pairs = angles.dims / 2;
    if (x.cols !== heads * headDim) throw shapeError('rope', 'x [rows, heads * headDim]', { x, heads, headDim });
    if (cos.rows !== x.rows || sin.rows !== x.rows || cos.cols !== pairs || sin.cols !== pairs) {
      throw shapeError('rope', 'cos and sin [rows, dims / 2]', { x, cos, sin, dims: angles.dims });
    }
    if (from < 0 || from + angles.dims > headDim) {
      throw shapeError('rope', 'from + dims must lie within a head', { from, dims: angles.dims, headDim });
    }
    const step = layout === 'half' ? 1 : 2;
    const apart = layout === 'half' ? pairs : 1;
    const direction = inverse ? -1 : 1;
    for (let r = 0; r < x.rows; r++) {
      const cosRow = cos.offset + r * cos.stride;
      const sinRow = sin.offset + r * sin.stride;
      for (let head = 0; head < heads; head++) {
        const start = x.offset + r * x.stride + head * headDim + from;
        for (let i = 0; i < pairs; i++) {
          const c = cos.f32[cosRow + i]!;
          const s = direction * sin.f32[sinRow + i]!;
          const first = start + i * step;
          const a = x.f32[first]!;
          const b = x.f32[first + apart]!;
          x.f32[first] = a * c - b * s;
          x.f32[first + apart] = b * c + a * s;
        }
      }
    }
  },
};
