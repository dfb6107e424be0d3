import {
  activationOf,
  biases,
  causal,
  decoder,
  defineFamily,
  dropout,
  ends,
  layerNorm,
  maskBuffers,
  oneNorm,
  parallel,
  rope,
  separateQKV,
  upDown,
  withPrefixes,
} from '@kvad/core/plugin';
import { gptDims, summaryKeys } from '../gpt-dims.js';
import type { GptjConfig } from '../generated/gptj.js';

/**
 * GPT-J: attention without biases and a two-matrix feed-forward beside each other behind one layer norm, interleaved
 * rotary positions on the first columns of each head, and a head with a bias.
 * Source: github.com/kingoflolz/mesh-transformer-jax; `modeling_gptj.py` of transformers.
 */
export const gptj = defineFamily<GptjConfig>({
  modelTypes: ['gptj'],
  about: 'multi-head attention and two-matrix feed-forward in parallel behind one norm',
  reference: 'github.com/kingoflolz/mesh-transformer-jax; modeling_gptj.py',
  config: {
    schema: 'gptj.schema.json',
    inert: {
      ...dropout('attn_pdrop', 'embd_pdrop', 'resid_pdrop'),
      ...summaryKeys,
      rotary: 'only true is accepted',
      scale_attn_weights: 'only true is accepted: scores are scaled',
    },
  },

  plan: (c, dims = gptDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        parallel(layerNorm(c.layer_norm_epsilon), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: false, o: false }),
            positions: rope('main', 'interleaved'),
            mask: causal(),
          },
          ffn: {
            kind: 'mlp',
            activation: activationOf(c.activation_function, 'activation_function'),
            size: c.n_inner ?? 4 * c.n_embd,
            bias: true,
          },
        }),
      rope: { main: { type: 'default', theta: 10_000, dims: c.rotary_dim } },
      finalNorm: layerNorm(c.layer_norm_epsilon),
      head: { tied: c.tie_word_embeddings, bias: true },
    }),

  weights: (_, stored = { layers: '{prefix}h.{layer}.' }) =>
    withPrefixes(
      ['transformer.', ''],
      [
        ...ends({ embedding: 'wte', norm: 'ln_f' }),
        ...oneNorm('ln_1', stored.layers),
        ...separateQKV('attn.', 'out_proj', stored),
        ...upDown('mlp.fc_in', 'mlp.fc_out', stored),
        ...maskBuffers('h.{layer}.attn.'),
      ],
    ),
});
