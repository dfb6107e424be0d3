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
import type { HeliumConfig } from '../generated/helium.js';

/**
 * Helium: Llama's layer with interleaved rotary positions; the output projection never has a bias.
 * Source: `modeling_helium.py` of transformers.
 */
export const helium = defineFamily<HeliumConfig>({
  modelTypes: ['helium'],
  about: 'grouped-query attention with interleaved rotation, gated feed-forward',
  reference: 'modeling_helium.py',
  config: { schema: 'helium.schema.json', inert: dropout('attention_dropout') },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: false }),
            positions: rope('main', 'interleaved'),
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
