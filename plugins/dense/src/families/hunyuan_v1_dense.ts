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

/** Ids of tokens, which the text side reads from its own files; the forward pass takes any. */
const TOKENS = Object.fromEntries(
  'eod_token_id im_end_id im_newline_id im_start_id mask_init_id pad_id sep_token_id text_end_id text_start_id'
    .split(' ')
    .map((key) => [key, 'names a token']),
);

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
      ...TOKENS,
      add_classification_head: 'only false is accepted: the head gives logits',
      attention_head_dim: 'head_dim decides',
      cla_share_factor: 'only used where use_cla is true',
      class_num: 'only used by a classification head',
      dense_list: 'only used by a classification head',
      mlp_bias: 'only false is accepted: feed-forwards have no bias',
      norm_type: 'only rms is accepted',
      org_vocab_size: 'vocab_size decides',
      pool_type: 'only used by a classification head',
      pretraining_tp: 'cut matrix products into pieces in training; their sum is the same product',
      skip_cls_token: 'only used by a classification head',
      use_cla: 'only false is accepted: each layer has keys and values of its own',
      use_qk_norm: 'only true is accepted: queries and keys are normalised',
      use_rotary_pos_emb: 'only true is accepted: queries and keys are rotated',
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
