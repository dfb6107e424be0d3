import type { JSONSchema } from '@kvad/schemas';
import { definePart } from '../../plan/plugin.js';
import type { Norm, NormPartOptions, Part, PartContext, WeightSlot } from '../parts.js';

const optionsSchema = (bias: JSONSchema): JSONSchema => ({
  type: 'object',
  additionalProperties: false,
  required: ['eps', 'offset', 'weight', 'bias', 'size'],
  properties: {
    eps: { type: 'number', minimum: 0 },
    offset: { enum: [0, 1], description: 'added to the weight' },
    weight: { type: 'boolean' },
    bias,
    size: {
      type: 'integer',
      minimum: 1,
      description: 'columns that are normalised together; a wider row is cut in such groups',
    },
  },
});

const slots = ({ weight, bias, size }: NormPartOptions): WeightSlot[] => [
  ...(weight ? [{ name: 'weight', shape: [size], role: 'exact' } as const] : []),
  ...(bias ? [{ name: 'bias', shape: [size], role: 'exact' } as const] : []),
];

/**
 * Root mean square norm.
 *    y = x / √(mean(x²) + ε) · (w + offset)        over each group of `size` columns
 *  x, y [rows, groups · size], w [size].  Source: arXiv:1910.07467.
 */
const rms: Part<Norm, NormPartOptions> = definePart({
  kind: 'rms',
  about: 'x / √(mean(x²) + ε), with an optional weight',
  options: optionsSchema({ const: false, description: 'this norm has none' }),
  slots,
  create({ size, eps, offset, weight }: NormPartOptions, { ops, weights }: PartContext): Norm {
    const options = { size, eps, offset, weight: weight ? weights.vector('weight') : null };
    return {
      forward: (x, out) => {
        ops.rmsNorm(x, out, options);
      },
    };
  },
});

/**
 * Layer norm.
 *    y = (x - mean) / √(var + ε) · (w + offset) + b        over each group of `size` columns
 *  x, y [rows, groups · size], w and b [size].  Source: arXiv:1607.06450.
 */
const layernorm: Part<Norm, NormPartOptions> = definePart({
  kind: 'layernorm',
  about: '(x - mean) / √(var + ε), with an optional weight and bias',
  options: optionsSchema({ type: 'boolean' }),
  slots,
  create({ size, eps, offset, weight, bias }: NormPartOptions, { ops, weights }: PartContext): Norm {
    const options = {
      size,
      eps,
      offset,
      weight: weight ? weights.vector('weight') : null,
      bias: bias ? weights.vector('bias') : null,
    };
    return {
      forward: (x, out) => {
        ops.layerNorm(x, out, options);
      },
    };
  },
});

export const NORMS = [rms, layernorm] as const;
