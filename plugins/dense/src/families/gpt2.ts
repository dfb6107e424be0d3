import {
  activationOf,
  biases,
  causal,
  decoder,
  defineFamily,
  dropout,
  ends,
  from,
  fusedQKV,
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
import type { Gpt2Config } from '../generated/gpt2.js';

/**
 * GPT-2: multi-head attention and a two-matrix feed-forward, both with biases, a layer norm before each, learned
 * positions. Its weights are stored `[in, out]`, queries, keys and values in one tensor.
 * Source: "Language Models are Unsupervised Multitask Learners" (2019); `modeling_gpt2.py` of transformers.
 */
export const gpt2 = defineFamily<Gpt2Config>({
  modelTypes: ['gpt2'],
  about: 'multi-head attention, two-matrix feed-forward, learned positions',
  reference: 'Radford et al. 2019; modeling_gpt2.py',
  config: {
    schema: 'gpt2.schema.json',
    inert: {
      ...dropout('attn_pdrop', 'embd_pdrop', 'resid_pdrop'),
      ...summaryKeys,
      n_ctx: 'an older name of n_positions, which decides',
      n_special: 'extra tokens of a classifier',
      predict_special_tokens: 'for a classifier on top, which a language model does not have',
      reorder_and_upcast_attn: 'scores are always computed in f32; the order of scale and product only rounds',
    },
  },

  plan: (c, dims = gptDims(c)) =>
    decoder({
      ...dims.model,
      embedding: { positions: { kind: 'learned', count: c.n_positions, offset: 0 } },
      layer: (i) =>
        pre(layerNorm(c.layer_norm_epsilon), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            scale: (c.scale_attn_weights ? dims.attention.scale : 1) / (c.scale_attn_by_inverse_layer_idx ? i + 1 : 1),
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

  weights: (c, dims = gptDims(c), stored = { layers: '{prefix}h.{layer}.', transposed: true }) =>
    withPrefixes(
      ['transformer.', ''],
      [
        ...ends({ embedding: 'wte', norm: 'ln_f' }),
        from('embedding.positions.weight', '{prefix}wpe.weight'),
        ...norms({ 'mixer.norm.before': 'ln_1', 'ffn.norm.before': 'ln_2' }, stored.layers),
        ...fusedQKV('attn.c_attn', dims.attention, stored),
        ...inLayer('mixer.o', 'attn.c_proj', stored),
        ...upDown('mlp.c_fc', 'mlp.c_proj', stored),
        ...maskBuffers('h.{layer}.attn.'),
      ],
    ),
});
