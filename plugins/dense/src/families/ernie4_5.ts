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
import type { Ernie45Config } from '../generated/ernie4_5.js';

/**
 * ERNIE 4.5 (dense): Llama's layer with interleaved rotary positions and one key for all biases.
 * Source: `modeling_ernie4_5.py` of transformers.
 */
export const ernie45 = defineFamily<Ernie45Config>({
  modelTypes: ['ernie4_5'],
  about: 'grouped-query attention with interleaved rotation, gated feed-forward',
  reference: 'modeling_ernie4_5.py',
  config: { schema: 'ernie4_5.schema.json', inert: dropout('attention_dropout') },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.use_bias, o: c.use_bias }),
            positions: rope('main', 'interleaved'),
            mask: causal(),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: c.use_bias },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () => withPrefixes(['model.', ''], [...standardDecoder(), ...separateQKV(), ...gateUpDown()]),
});
