import {
  activationOf,
  biases,
  causal,
  decoder,
  defineFamily,
  dropout,
  ends,
  from,
  groupedQKV,
  inLayer,
  layerNorm,
  maskBuffers,
  noPositions,
  norms,
  pre,
  upDown,
  withPrefixes,
} from '@kvad/core/plugin';
import { gptDims, summaryKeys } from '../gpt-dims.js';
import type { GptBigcodeConfig } from '../generated/gpt_bigcode.js';

/**
 * GPT-BigCode (SantaCoder, StarCoder): GPT-2's layer with one head of keys and values for all queries.
 * Source: arXiv:2301.03988, 2305.06161; `modeling_gpt_bigcode.py` of transformers.
 */
export const gptBigcode = defineFamily<GptBigcodeConfig>({
  modelTypes: ['gpt_bigcode'],
  about: 'multi-query attention, two-matrix feed-forward, learned positions',
  reference: 'arXiv:2301.03988, 2305.06161; modeling_gpt_bigcode.py',
  config: {
    schema: 'gpt_bigcode.schema.json',
    inert: {
      ...dropout('attn_pdrop', 'embd_pdrop', 'resid_pdrop'),
      ...summaryKeys,
      attention_softmax_in_fp32: 'the softmax is always computed in f32',
      inference_runner: 'a setting of the training program',
      max_batch_size: 'a setting of the training program',
      max_sequence_length: 'a setting of the training program',
      num_key_value_heads: 'multi_query decides',
      pad_key_length: 'a setting of the training program',
      pre_allocate_kv_cache: 'a setting of the training program',
      scale_attention_softmax_in_fp32: 'scores are always computed in f32',
      validate_runner_input: 'a setting of the training program',
    },
  },

  plan: (c, dims = gptDims(c, c.multi_query ? 1 : c.n_head)) =>
    decoder({
      ...dims.model,
      embedding: { positions: { kind: 'learned', count: c.n_positions, offset: 0 } },
      layer: () =>
        pre(layerNorm(c.layer_norm_epsilon), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            scale: c.scale_attn_weights ? dims.attention.scale : 1,
            bias: biases({ qkv: true, o: true }),
            positions: noPositions,
            mask: causal(),
          },
          ffn: {
            kind: 'mlp',
            activation: activationOf(c.activation_function, 'activation_function'),
            size: c.n_inner ?? 4 * c.n_embd,
            bias: true,
          },
        }),
      finalNorm: layerNorm(c.layer_norm_epsilon),
      head: { tied: c.tie_word_embeddings },
    }),

  /** All queries, then the keys and the values; without `multi_query` each head's three beside each other. */
  weights: (c, dims = gptDims(c, c.multi_query ? 1 : c.n_head), stored = { layers: '{prefix}h.{layer}.' }) =>
    withPrefixes(
      ['transformer.', ''],
      [
        ...ends({ embedding: 'wte', norm: 'ln_f' }),
        from('embedding.positions.weight', '{prefix}wpe.weight'),
        ...norms({ 'mixer.norm.before': 'ln_1', 'ffn.norm.before': 'ln_2' }, stored.layers),
        ...groupedQKV('attn.c_attn', dims.attention, stored),
        ...inLayer('mixer.o', 'attn.c_proj', stored),
        ...upDown('mlp.c_fc', 'mlp.c_proj', stored),
        ...maskBuffers('h.{layer}.attn.'),
      ],
    ),
});
