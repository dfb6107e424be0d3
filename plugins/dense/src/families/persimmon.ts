import {
  activationOf,
  biases,
  causal,
  decoder,
  defineFamily,
  dropout,
  ends,
  groupedQKV,
  inLayer,
  layerNorm,
  multiHeadDims,
  norms,
  pre,
  qkLayerNorm,
  qkNorms,
  rope,
  ropeOf,
  upDown,
  withPrefixes,
} from '@kvad/core/plugin';
import type { PersimmonConfig } from '../generated/persimmon.js';

/**
 * Persimmon: multi-head attention with normalised queries and keys, rotary positions on half of each head, squared
 * ReLU, biases throughout.
 * Source: `modeling_persimmon.py` of transformers.
 */
export const persimmon = defineFamily<PersimmonConfig>({
  modelTypes: ['persimmon'],
  about: 'multi-head attention with normalised queries and keys, two-matrix feed-forward, biases',
  reference: 'modeling_persimmon.py',
  config: {
    schema: 'persimmon.schema.json',
    inert: {
      ...dropout('attention_dropout', 'hidden_dropout'),
      rms_norm_eps: 'its norms are layer norms, with layer_norm_eps',
    },
  },

  plan: (c, dims = multiHeadDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        pre(layerNorm(c.layer_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: true, o: true }),
            ...(c.qk_layernorm ? { qkNorm: qkLayerNorm({ eps: c.layer_norm_eps }) } : {}),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: { kind: 'mlp', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: true },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim, partial: true }) },
      finalNorm: layerNorm(c.layer_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: (c, dims = multiHeadDims(c)) =>
    withPrefixes(
      ['model.', ''],
      [
        ...ends({ norm: 'final_layernorm' }),
        ...norms({ 'mixer.norm.before': 'input_layernorm', 'ffn.norm.before': 'post_attention_layernorm' }),
        ...groupedQKV('self_attn.query_key_value', dims.attention),
        ...inLayer('mixer.o', 'self_attn.dense'),
        ...qkNorms('self_attn.', { q: 'q_layernorm', k: 'k_layernorm' }),
        ...upDown('mlp.dense_h_to_4h', 'mlp.dense_4h_to_h'),
      ],
    ),
});
