import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  gateUpDown,
  pre,
  qkNorms,
  qkRms,
  rms,
  rope,
  ropeOf,
  separateQKV,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { HunyuanV1DenseConfig } from '../generated/hunyuan_v1_dense.js';

/**
 * Hunyuan (dense): queries and keys normalised after their rotation, and a rotary table that a fixed alpha may stretch.
 * Source: `modeling_hunyuan_v1_dense.py` of transformers.
 */
export const hunyuanV1Dense = defineFamily<HunyuanV1DenseConfig>({
  modelTypes: ['hunyuan_v1_dense'],
  about: 'grouped-query attention with queries and keys normalised after rotation, gated feed-forward',
  reference: 'modeling_hunyuan_v1_dense.py',
  config: {
    schema: 'hunyuan_v1_dense.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      eod_token_id: 'the text side reads token ids; the forward pass takes any',
      pretraining_tp: 'cut matrix products into pieces in training; their sum is the same product',
    },
  },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            qkNorm: qkRms({ eps: c.rms_norm_eps, when: 'after-rope' }),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim, alpha: true }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () =>
    withPrefixes(
      ['model.', ''],
      [
        ...standardDecoder(),
        ...separateQKV(),
        ...qkNorms('self_attn.', { q: 'query_layernorm', k: 'key_layernorm' }),
        ...gateUpDown(),
      ],
    ),
});
