import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  pre,
  rms,
  rope,
  ropeOf,
  separateQKV,
  standardDecoder,
  upDown,
  withPrefixes,
} from '@kvad/core/plugin';
import type { ArceeConfig } from '../generated/arcee.js';

/**
 * Arcee (AFM): Llama's attention, and a two-matrix feed-forward with a squared ReLU.
 * Source: `modeling_arcee.py` of transformers.
 */
export const arcee = defineFamily<ArceeConfig>({
  modelTypes: ['arcee'],
  about: 'grouped-query attention, two-matrix feed-forward with squared ReLU',
  reference: 'modeling_arcee.py',
  config: { schema: 'arcee.schema.json', inert: dropout('attention_dropout') },

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
          ffn: { kind: 'mlp', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: c.mlp_bias },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () =>
    withPrefixes(['model.', ''], [...standardDecoder(), ...separateQKV(), ...upDown('mlp.up_proj', 'mlp.down_proj')]),
});
