import {
  activationOf,
  biases,
  causal,
  decoder,
  defineFamily,
  dropout,
  ends,
  fromModule,
  groupedQKV,
  inLayer,
  layerNorm,
  maskBuffers,
  multiHeadDims,
  norms,
  parallel,
  pre,
  rope,
  ropeOf,
  upDown,
  withPrefixes,
} from '@kvad/core/plugin';
import type { GptNeoxConfig } from '../generated/gpt_neox.js';

/**
 * GPT-NeoX (Pythia, RedPajama): multi-head attention and a two-matrix feed-forward beside each other, each behind a
 * layer norm of its own, or one after the other; rotary positions on a part of each head.
 * Source: arXiv:2204.06745; `modeling_gpt_neox.py` of transformers.
 */
export const gptNeox = defineFamily<GptNeoxConfig>({
  modelTypes: ['gpt_neox'],
  about: 'multi-head attention and two-matrix feed-forward in parallel behind two norms',
  reference: 'arXiv:2204.06745; modeling_gpt_neox.py',
  config: {
    schema: 'gpt_neox.schema.json',
    inert: {
      ...dropout('attention_dropout', 'hidden_dropout', 'classifier_dropout'),
      ...dropout('attention_probs_dropout_prob', 'hidden_dropout_prob'),
      is_decoder: 'the mask is causal either way',
      partial_rotary_factor: 'only the published default is accepted: rotary_pct decides',
      rope_theta: 'only the published default is accepted: rotary_emb_base decides',
      rms_norm_eps: 'its norms are layer norms, with layer_norm_eps',
    },
  },

  plan: (c, dims = multiHeadDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        (c.use_parallel_residual ? parallel : pre)(layerNorm(c.layer_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: { kind: 'mlp', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: true },
        }),
      rope: {
        main: ropeOf(c, {
          headDim: dims.attention.headDim,
          partial: 0.25,
          keys: { theta: ['rotary_emb_base'], partial: ['rotary_pct'] },
        }),
      },
      finalNorm: layerNorm(c.layer_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: (c, dims = multiHeadDims(c)) =>
    withPrefixes(
      ['gpt_neox.', ''],
      [
        ...ends({ embedding: 'embed_in', norm: 'final_layer_norm', head: 'embed_out' }),
        ...fromModule('head', 'lm_head'),
        ...norms({ 'mixer.norm.before': 'input_layernorm', 'ffn.norm.before': 'post_attention_layernorm' }),
        ...groupedQKV('attention.query_key_value', dims.attention),
        ...inLayer('mixer.o', 'attention.dense'),
        ...upDown('mlp.dense_h_to_4h', 'mlp.dense_4h_to_h'),
        ...maskBuffers('layers.{layer}.attention.'),
      ],
    ),
});
