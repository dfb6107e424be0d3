import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  layerNorm,
  pre,
  rope,
  ropeOf,
  separateQKV,
  standardDecoder,
  upDown,
  withPrefixes,
} from '@kvad/core/plugin';
import type { Starcoder2Config } from '../generated/starcoder2.js';

/**
 * StarCoder2: grouped-query attention and a two-matrix feed-forward, both with biases, behind layer norms; a window
 * on all layers where one is set.
 * Source: arXiv:2402.19173; `modeling_starcoder2.py` of transformers.
 */
export const starcoder2 = defineFamily<Starcoder2Config>({
  modelTypes: ['starcoder2'],
  about: 'grouped-query attention with a window on all layers, two-matrix feed-forward, biases',
  reference: 'arXiv:2402.19173; modeling_starcoder2.py',
  config: {
    schema: 'starcoder2.schema.json',
    inert: {
      ...dropout('attention_dropout', 'embedding_dropout', 'residual_dropout'),
      activation_function: 'an older name of hidden_act, which decides',
      attention_softmax_in_fp32: 'the softmax is always computed in f32',
      layer_norm_epsilon: 'an older name of norm_epsilon, which decides',
      mlp_type: 'only "default" is accepted: two matrices',
      norm_type: 'only "layer_norm" is accepted',
      rms_norm_eps: 'its norms are layer norms, with norm_epsilon',
      scale_attention_softmax_in_fp32: 'scores are always computed in f32',
      scale_attn_weights: 'only true is accepted: scores are scaled',
    },
  },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        pre(layerNorm(c.norm_epsilon), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.use_bias, o: c.use_bias }),
            positions: rope('main'),
            mask: causal(c.sliding_window),
          },
          ffn: { kind: 'mlp', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: c.use_bias },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: layerNorm(c.norm_epsilon),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () =>
    withPrefixes(['model.', ''], [...standardDecoder(), ...separateQKV(), ...upDown('mlp.c_fc', 'mlp.c_proj')]),
});
