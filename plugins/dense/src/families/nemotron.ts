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
import type { NemotronConfig } from '../generated/nemotron.js';

/**
 * Nemotron (Minitron): layer norms of the form (1 + w), rotary positions on half of each head, squared ReLU.
 * Source: arXiv:2402.16819, 2407.14679; `modeling_nemotron.py` of transformers.
 */
export const nemotron = defineFamily<NemotronConfig>({
  modelTypes: ['nemotron'],
  about: 'grouped-query attention, two-matrix feed-forward with squared ReLU, layer norms',
  reference: 'arXiv:2402.16819, 2407.14679; modeling_nemotron.py',
  config: {
    schema: 'nemotron.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      kv_channels: 'an older name of head_dim; the shapes of the tensors show one that differs',
      rms_norm_eps: 'its norms are layer norms, with norm_eps',
    },
  },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        pre(layerNorm(c.norm_eps, { offset: 1 }), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: { kind: 'mlp', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: c.mlp_bias },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim, partial: true }) },
      finalNorm: layerNorm(c.norm_eps, { offset: 1 }),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () =>
    withPrefixes(['model.', ''], [...standardDecoder(), ...separateQKV(), ...upDown('mlp.up_proj', 'mlp.down_proj')]),
});
