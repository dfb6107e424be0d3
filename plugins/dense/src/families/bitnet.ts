import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  gateUpDown,
  inLayer,
  pre,
  rms,
  rope,
  ropeOf,
  separateQKV,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { BitnetConfig } from '../generated/bitnet.js';

/**
 * BitNet b1.58 in full precision: a norm before the output projection and one inside the feed-forward, whose gate is
 * a squared ReLU. Files with packed ternary weights say so in `quantization_config` and are refused there.
 * Source: arXiv:2402.17764, 2504.12285; `modeling_bitnet.py` of transformers.
 */
export const bitnet = defineFamily<BitnetConfig>({
  modelTypes: ['bitnet'],
  about: 'grouped-query attention and gated feed-forward, each with a norm before its last projection',
  reference: 'arXiv:2402.17764, 2504.12285; modeling_bitnet.py',
  config: { schema: 'bitnet.schema.json', inert: dropout('attention_dropout') },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            positions: rope('main'),
            mask: causal(),
            outNorm: rms(c.rms_norm_eps),
          },
          ffn: {
            kind: 'glu',
            activation: activationOf(c.hidden_act),
            size: c.intermediate_size,
            bias: false,
            innerNorm: rms(c.rms_norm_eps),
          },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () =>
    withPrefixes(
      ['model.', ''],
      [
        ...standardDecoder(),
        ...separateQKV(),
        ...gateUpDown(),
        ...inLayer('mixer.outNorm', 'self_attn.attn_sub_norm'),
        ...inLayer('ffn.innerNorm', 'mlp.ffn_sub_norm'),
      ],
    ),
});
