import { schema, type JSONSchema, type NormPlan } from '@kvad/core/plugin';

/** What `attention` can be told. Sizes are per layer; what is absent is not there. */
export interface AttentionOptions {
  readonly heads: number;
  /** Divides `heads`: as many query heads share each key and value head. */
  readonly kvHeads: number;
  /** Columns of a query and of a key. */
  readonly headDim: number;
  readonly valueDim: number;
  /** `gate`: of the output gate; absent: none. */
  readonly bias: {
    readonly q: boolean;
    readonly k: boolean;
    readonly v: boolean;
    readonly o: boolean;
    readonly gate?: boolean;
  };
  /** Multiplies q·k. */
  readonly scale: number;
  readonly positions: PositionOptions;
  readonly mask: MaskOptions;
  /** Queries, keys and values are cut to `[-clip, clip]` after their projection. */
  readonly clip?: number;
  /** The same after the norm of queries and keys before rope. */
  readonly clipNormed?: number;
  readonly qkNorm?: QkNormOptions;
  readonly queryScale?: QueryScaleOptions;
  /** `cap * tanh(score / cap)` before the softmax. */
  readonly softcap?: number;
  /** A learned logit per head that joins the softmax and brings no value. */
  readonly sinks?: 'per-head';
  /** Multiplies the values. */
  readonly valueScale?: number;
  readonly outGate?: OutGate;
  /** Norm over all heads' values, before the output projection. */
  readonly outNorm?: NormPlan;
}

export type PositionOptions =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'rope';
      /** Id of a rope table of the plan. */
      readonly table: string;
      /** `half`: column i turns with i + dims/2; `interleaved`: 2i with 2i + 1. */
      readonly layout: 'half' | 'interleaved';
      /** `forward` turns as published by RoFormer, `backward` the other way. */
      readonly direction: 'forward' | 'backward';
    }
  /** `slope * (key position - query position)` is added to the scaled score; slopes in `alibi-slopes.ts`. */
  | { readonly kind: 'alibi'; readonly powers: 'below' | 'above' };

export type MaskOptions =
  | { readonly kind: 'causal' }
  /** The last `size` keys, the query's own included. */
  | { readonly kind: 'window'; readonly size: number }
  /** The keys of the query's own block of `size` positions. */
  | { readonly kind: 'chunk'; readonly size: number };

export interface QkNormOptions {
  readonly kind: 'rms' | 'layernorm';
  readonly eps: number;
  readonly offset: 0 | 1;
  readonly weight: boolean;
  readonly bias: boolean;
  /**
   * `head`: each head alone, one weight `[headDim]` for all; `head-own`: each head alone, a weight each
   * `[heads, headDim]`; `full`: the whole projection at once.
   */
  readonly scope: 'head' | 'head-own' | 'full';
  readonly when: 'before-rope' | 'after-rope';
}

/** The factor of a query at position p. */
export type QueryScaleOptions =
  /** `1 + strength * ln(1 + floor((p + 1) / every))` */
  | { readonly kind: 'next-position'; readonly strength: number; readonly every: number }
  /** `1 + strength * ln(1 + floor(p / every))` */
  | { readonly kind: 'position'; readonly strength: number; readonly every: number };

/** What multiplies the heads' values, from the layer's input: per element, or one factor a head. */
export type OutGate = 'sigmoid' | 'softplus' | 'softplus-per-head';

export const ATTENTION_SCHEMA: JSONSchema = schema.object(
  {
    heads: schema.size,
    kvHeads: schema.size,
    headDim: schema.size,
    valueDim: schema.size,
    bias: schema.object({ q: schema.flag, k: schema.flag, v: schema.flag, o: schema.flag, gate: schema.flag }, [
      'gate',
    ]),
    scale: schema.number,
    positions: schema.oneOf(
      schema.object({ kind: { const: 'none' } }),
      schema.object({
        kind: { const: 'rope' },
        table: { type: 'string', minLength: 1 },
        layout: { enum: ['half', 'interleaved'] },
        direction: { enum: ['forward', 'backward'] },
      }),
      schema.object({ kind: { const: 'alibi' }, powers: { enum: ['below', 'above'] } }),
    ),
    mask: schema.oneOf(
      schema.object({ kind: { const: 'causal' } }),
      schema.object({ kind: { const: 'window' }, size: schema.size }),
      schema.object({ kind: { const: 'chunk' }, size: schema.size }),
    ),
    clip: schema.positive,
    clipNormed: schema.positive,
    qkNorm: schema.object({
      kind: { enum: ['rms', 'layernorm'] },
      eps: schema.notNegative,
      offset: { enum: [0, 1] },
      weight: schema.flag,
      bias: schema.flag,
      scope: { enum: ['head', 'head-own', 'full'] },
      when: { enum: ['before-rope', 'after-rope'] },
    }),
    queryScale: schema.object({
      kind: { enum: ['next-position', 'position'] },
      strength: schema.number,
      every: schema.positive,
    }),
    softcap: schema.positive,
    sinks: { const: 'per-head' },
    valueScale: schema.number,
    outGate: { enum: ['sigmoid', 'softplus', 'softplus-per-head'] },
    outNorm: schema.norm,
  },
  ['clip', 'clipNormed', 'qkNorm', 'queryScale', 'softcap', 'sinks', 'valueScale', 'outGate', 'outNorm'],
);
