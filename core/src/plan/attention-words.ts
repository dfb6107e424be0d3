/** Words for the options of a softmax attention mixer, so that a family says only what is special about it. */

/** Rotary positions by a table of the plan, each half of the rotated columns against the other. */
export const rope = (table: string, layout: 'half' | 'interleaved' = 'half') => ({
  kind: 'rope' as const,
  table,
  layout,
  direction: 'forward' as const,
});

/** A layer without positions (NoPE), or where they are in the embedding. */
export const noPositions = { kind: 'none' as const };

/** All keys so far; with a number, the last that many, the query's own included. */
export const causal = (window: number | null = null) =>
  window === null ? { kind: 'causal' as const } : { kind: 'window' as const, size: window };

/** Which of the projections have a bias. */
export const biases = ({ qkv, o }: { readonly qkv: boolean; readonly o: boolean }) => ({ q: qkv, k: qkv, v: qkv, o });

interface QkNormChoice {
  readonly eps: number;
  readonly offset?: 0 | 1;
  readonly weight?: boolean;
  readonly bias?: boolean;
  readonly scope?: 'head' | 'head-own' | 'full';
  readonly when?: 'before-rope' | 'after-rope';
}

/** RMS norm of queries and keys: each head alone with one weight for all, before rope, unless said otherwise. */
export const qkRms = ({ eps, offset = 0, weight = true, scope = 'head', when = 'before-rope' }: QkNormChoice) => ({
  kind: 'rms' as const,
  eps,
  offset,
  weight,
  bias: false,
  scope,
  when,
});

/** Layer norm of queries and keys, with weight and bias unless said otherwise. */
export const qkLayerNorm = (choice: QkNormChoice) => ({
  ...qkRms(choice),
  kind: 'layernorm' as const,
  bias: choice.bias ?? true,
});
