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
  rms,
  rope,
  ropeOf,
  separateQKV,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { SeedOssConfig } from '../generated/seed_oss.js';

/**
 * Seed-OSS: Llama's layer with a wide head, and biases that the output projection has a key of its own for.
 * Source: `modeling_seed_oss.py` of transformers.
 */
export const seedOss = defineFamily<SeedOssConfig>({
  modelTypes: ['seed_oss'],
  about: 'grouped-query attention with biased queries, keys and values, gated feed-forward',
  reference: 'modeling_seed_oss.py',
  config: {
    schema: 'seed_oss.schema.json',
    inert: {
      ...dropout('attention_dropout', 'residual_dropout'),
      pretraining_tp: 'cut matrix products into pieces in training; their sum is the same product',
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
            bias: biases({ qkv: c.attention_bias, o: c.attention_out_bias }),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: c.mlp_bias },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () => withPrefixes(['model.', ''], [...standardDecoder(), ...separateQKV(), ...gateUpDown()]),
});
