import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  ends,
  fusedQKV,
  inLayer,
  layerNorm,
  norms,
  pre,
  upDown,
  withPrefixes,
} from '@kvad/core/plugin';
import type { MptConfig } from '../generated/mpt.js';

/** Keys inside `attn_config` that change nothing; later files also hold those of every Python config class. */
const attentionKeys = {
  'attn_config.alibi': 'only true is accepted: there are no other positions',
  'attn_config.alibi_bias_max': 'only 8 is accepted: the published code reads no other',
  'attn_config.attn_impl': 'chose a kernel for the same arithmetic',
  'attn_config.attn_pdrop': 'a dropout rate acts in training only',
  'attn_config.attn_type': 'only multihead_attention is accepted',
  'attn_config.attn_uses_sequence_id': 'only false is accepted: a call holds one document',
  'attn_config.is_encoder_decoder': 'only false is accepted: there is no encoder',
  'attn_config.prefix_lm': 'only false is accepted: attention is causal',
  'attn_config.qk_ln': 'only false is accepted: queries and keys are not normalised',
  ...Object.fromEntries(
    [
      '_name_or_path',
      'architectures',
      'chunk_size_feed_forward',
      'dtype',
      'id2label',
      'label2id',
      'model_type',
      'output_attentions',
      'output_hidden_states',
      'problem_type',
      'return_dict',
      'transformers_version',
    ].map((key) => [`attn_config.${key}`, 'a key of every Python config class, without a meaning here']),
  ),
};

/**
 * MPT: multi-head attention with ALiBi, two-matrix feed-forward, no biases anywhere.
 * Source: the MPT-7B release (2023); `modeling_mpt.py` of transformers.
 */
export const mpt = defineFamily<MptConfig>({
  modelTypes: ['mpt'],
  about: 'multi-head attention with ALiBi, two-matrix feed-forward, no biases',
  reference: 'mosaicml.com/blog/mpt-7b; modeling_mpt.py',
  config: {
    schema: 'mpt.schema.json',
    inert: {
      ...dropout('emb_pdrop', 'resid_pdrop'),
      ...attentionKeys,
      expansion_ratio: 'only 4 is accepted: the published code reads no other width',
      embedding_fraction: 'scaled gradients in training',
      init_config: 'draws the first weights of a training run',
      init_device: 'where the first weights were drawn',
      learned_pos_emb: 'learned positions are not used beside ALiBi',
      logit_scale: 'only null is accepted: logits are not scaled',
      no_bias: 'only true is accepted',
      norm_type: 'only low_precision_layernorm is accepted: the same norm as layernorm',
      tokenizer_name: 'the text side reads tokenizer.json',
      verbose: 'how much the training program printed',
    },
  },

  plan: (c, dims = dimsOf(c), norm = layerNorm(c.layer_norm_epsilon, { bias: false })) =>
    decoder({
      ...dims.model,
      layer: () =>
        pre(norm, {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: false, o: false }),
            scale: c.attn_config.softmax_scale ?? dims.attention.scale,
            ...(c.attn_config.clip_qkv === null ? {} : { clip: c.attn_config.clip_qkv }),
            positions: { kind: 'alibi', powers: 'above' },
            mask: causal(),
          },
          ffn: { kind: 'mlp', activation: activationOf('gelu'), size: 4 * c.d_model, bias: false },
        }),
      finalNorm: norm,
      head: { tied: c.tie_word_embeddings },
    }),

  weights: (c, dims = dimsOf(c), stored = { layers: '{prefix}blocks.{layer}.' }) =>
    withPrefixes(
      ['transformer.', ''],
      [
        ...ends({ embedding: 'wte', norm: 'norm_f' }),
        ...norms({ 'mixer.norm.before': 'norm_1', 'ffn.norm.before': 'norm_2' }, stored.layers),
        ...fusedQKV('attn.Wqkv', dims.attention, stored),
        ...inLayer('mixer.o', 'attn.out_proj', stored),
        ...upDown('ffn.up_proj', 'ffn.down_proj', stored),
      ],
    ),
});

const dimsOf = (c: MptConfig) =>
  decoderDims({
    vocab_size: c.vocab_size,
    hidden_size: c.d_model,
    num_hidden_layers: c.n_layers,
    num_attention_heads: c.n_heads,
    max_position_embeddings: c.max_seq_len,
  });
