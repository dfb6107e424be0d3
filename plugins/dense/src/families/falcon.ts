import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  ends,
  groupedQKV,
  inLayer,
  layerNorm,
  norms,
  parallel,
  pre,
  rope,
  ropeOf,
  upDown,
  withPrefixes,
} from '@kvad/core/plugin';
import type { FalconConfig } from '../generated/falcon.js';

/**
 * Falcon: rotary attention and a two-matrix feed-forward beside each other. Three layouts: one head of keys for all
 * queries behind one norm (7B), groups behind one norm or two (`new_decoder_architecture`, 11B, 40B, 180B), and a head
 * of keys for each query.
 * Source: arXiv:2311.16867; `modeling_falcon.py` of transformers.
 */
export const falcon = defineFamily<FalconConfig>({
  modelTypes: ['falcon'],
  about: 'attention with one, several or all heads of keys, two-matrix feed-forward in parallel',
  reference: 'arXiv:2311.16867; modeling_falcon.py',
  config: {
    schema: 'falcon.schema.json',
    inert: {
      ...dropout('attention_dropout', 'hidden_dropout'),
      alibi: 'only false is accepted: the published biases are rounded to bf16, which is not reproduced',
      apply_residual_connection_post_layernorm: 'the published code does not read it',
      ff_factor: 'only 4 is accepted: ffn_hidden_size decides, and is 4 hidden_size where it is absent',
      multi_query: 'new_decoder_architecture decides where it is true',
      num_kv_heads: 'one or all, unless new_decoder_architecture is true',
      num_ln_in_parallel_attn: 'one norm, unless new_decoder_architecture is true',
      parallel_attn: 'new_decoder_architecture decides where it is true',
    },
  },

  plan: (c, dims = dimsOf(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        (c.new_decoder_architecture || c.parallel_attn ? parallel : pre)(layerNorm(c.layer_norm_epsilon), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.bias, o: c.bias }),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: {
            kind: 'mlp',
            activation: activationOf(c.activation, 'activation'),
            size: c.ffn_hidden_size ?? 4 * c.hidden_size,
            bias: c.bias,
          },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: layerNorm(c.layer_norm_epsilon),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: (c, dims = dimsOf(c), stored = { layers: '{prefix}h.{layer}.' }) =>
    withPrefixes(
      ['transformer.', ''],
      [
        ...ends({ embedding: 'word_embeddings', norm: 'ln_f' }),
        ...norms(normsOf(c), stored.layers),
        ...groupedQKV('self_attention.query_key_value', dims.attention, stored),
        ...inLayer('mixer.o', 'self_attention.dense', stored),
        ...upDown('mlp.dense_h_to_4h', 'mlp.dense_4h_to_h', stored),
      ],
    ),
});

/** `num_kv_heads` counts in the new architecture only; before, there is one head of keys or one for each query. */
const dimsOf = (c: FalconConfig) =>
  decoderDims({
    vocab_size: c.vocab_size,
    hidden_size: c.hidden_size,
    num_hidden_layers: c.num_hidden_layers,
    max_position_embeddings: c.max_position_embeddings,
    num_attention_heads: c.num_attention_heads,
    num_key_value_heads: c.new_decoder_architecture ? c.num_kv_heads : c.multi_query ? 1 : null,
  });

const normsOf = (c: FalconConfig): Record<string, string> => {
  const [mixer, ffn] = c.new_decoder_architecture
    ? (c.num_ln_in_parallel_attn ?? 2) === 2
      ? ['ln_attn', 'ln_mlp']
      : ['input_layernorm', 'input_layernorm']
    : ['input_layernorm', c.parallel_attn ? 'input_layernorm' : 'post_attention_layernorm'];
  return { 'mixer.norm.before': mixer, 'ffn.norm.before': ffn };
};
