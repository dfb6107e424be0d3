import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  eitherName,
  ends,
  fromModule,
  groupedQKV,
  inLayer,
  layerNorm,
  norms,
  pre,
  upDown,
  withPrefixes,
} from '@kvad/core/plugin';
import type { BloomConfig } from '../generated/bloom.js';

/**
 * BLOOM: multi-head attention with ALiBi instead of positions, two-matrix feed-forward, biases throughout, and a layer
 * norm right behind the embedding.
 * Source: arXiv:2211.05100; `modeling_bloom.py` of transformers.
 */
export const bloom = defineFamily<BloomConfig>({
  modelTypes: ['bloom'],
  about: 'multi-head attention with ALiBi, two-matrix feed-forward, normalised embedding',
  reference: 'arXiv:2211.05100; modeling_bloom.py',
  config: {
    schema: 'bloom.schema.json',
    inert: {
      ...dropout('attention_dropout', 'hidden_dropout'),
      apply_residual_connection_post_layernorm: 'only false is accepted: the residual is the input of the norm',
      attention_softmax_in_fp32: 'the softmax is always computed in f32',
      bias_dropout_fusion: 'chose a kernel for the same arithmetic in training',
      masked_softmax_fusion: 'chose a kernel for the same arithmetic in training',
      offset_alibi: 'a setting of the training program, which the published code does not read',
      pretraining_tp: 'cut matrix products into pieces in training; their sum is the same product',
      skip_bias_add: 'said which kernel adds a bias in training',
      skip_bias_add_qkv: 'said which kernel adds a bias in training',
      slow_but_exact: 'adds those pieces in the order of training: rounding only',
    },
  },

  plan: (c, dims = dimsOf(c)) =>
    decoder({
      ...dims.model,
      embedding: { norm: layerNorm(c.layer_norm_epsilon) },
      layer: () =>
        pre(layerNorm(c.layer_norm_epsilon), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: true, o: true }),
            positions: { kind: 'alibi', powers: 'below' },
            mask: causal(),
          },
          ffn: { kind: 'mlp', activation: activationOf('gelu_new'), size: 4 * dims.model.hiddenSize, bias: true },
        }),
      finalNorm: layerNorm(c.layer_norm_epsilon),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: (c, dims = dimsOf(c), stored = { layers: '{prefix}h.{layer}.' }) =>
    withPrefixes(
      ['transformer.', ''],
      [
        ...ends({ embedding: 'word_embeddings', norm: 'ln_f' }),
        ...fromModule('embedding.norm', '{prefix}word_embeddings_layernorm'),
        ...norms(
          { 'mixer.norm.before': 'input_layernorm', 'ffn.norm.before': 'post_attention_layernorm' },
          stored.layers,
        ),
        ...groupedQKV('self_attention.query_key_value', dims.attention, stored),
        ...inLayer('mixer.o', 'self_attention.dense', stored),
        ...upDown('mlp.dense_h_to_4h', 'mlp.dense_4h_to_h', stored),
      ],
    ),
});

/** Sizes stand under two names. ALiBi sets no bound; the models were trained on 2048 positions. */
const dimsOf = (c: BloomConfig) =>
  decoderDims({
    vocab_size: c.vocab_size,
    hidden_size: eitherName(c, 'n_embed', 'hidden_size', 64),
    num_hidden_layers: eitherName(c, 'n_layer', 'num_hidden_layers', 2),
    num_attention_heads: eitherName(c, 'n_head', 'num_attention_heads', 8),
    max_position_embeddings: c.seq_length,
  });
