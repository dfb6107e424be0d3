/** Words for the gated delta net, so that a family says only what is special about it. */
import { activationOf, refuseConfig, rms, type OpChoice } from '@kvad/core/plugin';

/** The sizes of the mixer, as configs name them. */
export interface DeltaNetKeys {
  readonly linear_num_key_heads: number;
  readonly linear_num_value_heads: number;
  readonly linear_key_head_dim: number;
  readonly linear_value_head_dim: number;
}

export interface DeltaNetDims {
  readonly keyHeads: number;
  readonly valueHeads: number;
  readonly keyDim: number;
  readonly valueDim: number;
}

export const deltaNetDims = (c: DeltaNetKeys): DeltaNetDims => {
  const { linear_num_key_heads: keyHeads, linear_num_value_heads: valueHeads } = c;
  if (valueHeads % keyHeads !== 0)
    refuseConfig('linear_num_value_heads', valueHeads, `is no multiple of "linear_num_key_heads": ${keyHeads}`);
  return { keyHeads, valueHeads, keyDim: c.linear_key_head_dim, valueDim: c.linear_value_head_dim };
};

interface DeltaNetChoice {
  readonly dims: DeltaNetDims;
  readonly kernel: number;
  /** After the convolution, by its name in the config. */
  readonly activation: string;
  /** Of the norm of what each head gives. */
  readonly outEps: number;
  /** β reaches 2 instead of 1, so that what is held under a key may be turned round. */
  readonly negative?: boolean;
}

/** As published: queries and keys of unit length, and a gated norm whose weight has no offset. */
export const gatedDeltaNet = ({ dims, kernel, activation, outEps, negative = false }: DeltaNetChoice): OpChoice => ({
  kind: 'gated-delta-net',
  ...dims,
  kernel,
  activation: activationOf(activation),
  lengthEps: 1e-6,
  betaScale: negative ? 2 : 1,
  outNorm: rms(outEps),
  outGate: activationOf('silu'),
});
