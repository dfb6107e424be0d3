import type { NormPlan } from '@kvad/core/plugin';

/** Options of the mixer `mla`. */
export interface MlaOptions {
  readonly heads: number;
  /** Columns of a query or key head that do not turn, and that turn. */
  readonly nopeDim: number;
  readonly ropeDim: number;
  readonly valueDim: number;
  /** Columns of the latent that keys and values are made from (`kv_lora_rank`). */
  readonly latent: number;
  readonly latentNorm: NormPlan;
  /** Queries are made from a latent of their own, or from x. */
  readonly query:
    { readonly from: 'latent'; readonly latent: number; readonly norm: NormPlan } | { readonly from: 'x' };
  /** Of the projections to the latents, of the turning key, and of the output. */
  readonly bias: boolean;
  readonly rope: { readonly table: string; readonly layout: 'half' | 'interleaved' };
  readonly scale: number;
}

const size = { type: 'integer', minimum: 1 };

export const MLA_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['heads', 'nopeDim', 'ropeDim', 'valueDim', 'latent', 'latentNorm', 'query', 'bias', 'rope', 'scale'],
  properties: {
    heads: size,
    nopeDim: size,
    ropeDim: { type: 'integer', minimum: 2, multipleOf: 2 },
    valueDim: size,
    latent: size,
    latentNorm: { type: 'object' },
    query: {
      oneOf: [
        {
          type: 'object',
          additionalProperties: false,
          required: ['from', 'latent', 'norm'],
          properties: { from: { const: 'latent' }, latent: size, norm: { type: 'object' } },
        },
        { type: 'object', additionalProperties: false, required: ['from'], properties: { from: { const: 'x' } } },
      ],
    },
    bias: { type: 'boolean' },
    rope: {
      type: 'object',
      additionalProperties: false,
      required: ['table', 'layout'],
      properties: { table: { type: 'string' }, layout: { enum: ['half', 'interleaved'] } },
    },
    scale: { type: 'number' },
  },
} as const;
