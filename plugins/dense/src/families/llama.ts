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
import type { LlamaConfig } from '../generated/llama.js';

/**
 * Llama: grouped-query attention with rotary positions, gated feed-forward, an RMS norm before each.
 * Source: arXiv:2302.13971, 2407.21783; `modeling_llama.py` of transformers.
 */
export const llama = defineFamily<LlamaConfig>({
  modelTypes: ['llama'],
  about: 'grouped-query attention, gated feed-forward',
  reference: 'arXiv:2302.13971, 2407.21783; modeling_llama.py',
  config: {
    schema: 'llama.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      is_llama_config: 'names the file format of a training program',
      max_sequence_length: 'an older name of max_position_embeddings, which decides',
      pretraining_tp: 'cut matrix products into pieces in training; their sum is the same product',
      rope_interleaved: 'only false is accepted: halves are rotated',
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
