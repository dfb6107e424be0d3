import type { Batch } from '@kvad/core/plugin';
import type { QueryScaleOptions } from './attention-options.js';

/** The factor of each row's query by its position, `[rows]`; see `QueryScaleOptions` for the formulas. */
export const queryFactors = ({ kind, strength, every }: QueryScaleOptions, batch: Batch): Float32Array => {
  const factors = new Float32Array(batch.rows);
  const shift = kind === 'next-position' ? 1 : 0;
  for (const { start, length, position } of batch.segments)
    for (let i = 0; i < length; i++)
      factors[start + i] = 1 + strength * Math.log1p(Math.floor((position + i + shift) / every));
  return factors;
};
