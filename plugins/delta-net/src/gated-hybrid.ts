/** What the families with gated attention and gated delta net have in common, layer by layer. */
import {
  biases,
  causal,
  decoderDims,
  dropout,
  pre,
  qkRms,
  rms,
  rope,
  ropeOf,
  standardDecoder,
  unneeded,
  withPrefixes,
  type DecoderDims,
  type LayerPlan,
  type OpChoice,
  type SizeKeys,
  type SlotRule,
  type WeightRule,
} from '@kvad/core/plugin';
import { deltaNetEnds, gatedAttentionNames, oneConvolution } from './delta-net-names.js';
import { deltaNetDims, gatedDeltaNet, type DeltaNetKeys } from './delta-net-words.js';
import { KEYS_OF_SOME_LAYERS, linearByInterval, type LayerKindKeys } from './layer-kinds.js';

export interface HybridKeys extends SizeKeys, DeltaNetKeys, LayerKindKeys {
  readonly full_attention_interval: number;
  readonly linear_conv_kernel_dim: number;
  readonly hidden_act: string;
  readonly rms_norm_eps: number;
  readonly attention_bias: boolean;
}

/** Its norms, all but the gated one, multiply by `1 + w`. */
export const hybridNorm = (c: HybridKeys) => rms(c.rms_norm_eps, 1);

/** Layer by layer, gated delta net or attention with an output gate, before the feed-forward given. */
export const hybridLayers = (
  c: HybridKeys,
  ffn: (layer: number) => OpChoice,
  dims: DecoderDims = decoderDims(c),
): ((layer: number) => LayerPlan) => {
  const isLinear = linearByInterval(c);
  return (layer) =>
    pre(hybridNorm(c), { mixer: isLinear(layer) ? linear(c) : gatedAttention(c, dims), ffn: ffn(layer) });
};

const linear = (c: HybridKeys): OpChoice =>
  gatedDeltaNet({
    dims: deltaNetDims(c),
    kernel: c.linear_conv_kernel_dim,
    activation: c.hidden_act,
    outEps: c.rms_norm_eps,
  });

const gatedAttention = (c: HybridKeys, { attention }: DecoderDims): OpChoice => ({
  kind: 'attention',
  ...attention,
  bias: { ...biases({ qkv: c.attention_bias, o: c.attention_bias }), gate: c.attention_bias },
  qkNorm: qkRms({ eps: c.rms_norm_eps, offset: 1 }),
  positions: rope('main'),
  mask: causal(),
  outGate: 'sigmoid',
});

/** The part of each head that turns; how an image's positions are spread over it is of no account in text. */
export const hybridRope = (c: HybridKeys, { attention }: DecoderDims = decoderDims(c)) => ({
  main: ropeOf(c, {
    headDim: attention.headDim,
    partial: true,
    inert: {
      mrope_section: 'the three positions of a token of text are the same',
      mrope_interleaved: 'the three positions of a token of text are the same',
    },
  }),
});

export const HYBRID_INERT: Readonly<Record<string, string>> = {
  ...dropout('attention_dropout'),
  ...KEYS_OF_SOME_LAYERS,
  attn_output_gate: 'only true is accepted: attention has its output gate',
  output_gate_type: 'only silu, by either name, is accepted',
  mamba_ssm_dtype: 'the linear memory is always kept in float32',
  mtp_num_hidden_layers: 'layers that guess further tokens are not run',
  mtp_use_dedicated_embeddings: 'layers that guess further tokens are not run',
};

/** All tensors but those of the feed-forward and of the inputs of the gated delta net. */
export const hybridNames = (
  c: HybridKeys,
  prefixes: readonly string[],
  others: readonly SlotRule[],
): readonly WeightRule[] => [
  ...withPrefixes(prefixes, [
    ...standardDecoder(),
    ...gatedAttentionNames(decoderDims(c).attention),
    ...deltaNetEnds(),
    oneConvolution(),
    ...others,
  ]),
  unneeded('mtp.*', 'layers that guess further tokens are not run'),
];
