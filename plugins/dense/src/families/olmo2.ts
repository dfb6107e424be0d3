import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  ends,
  gateUpDown,
  post,
  postNorms,
  qkNorms,
  qkRms,
  rms,
  rope,
  ropeOf,
  separateQKV,
  withPrefixes,
} from '@kvad/core/plugin';
import type { Olmo2Config } from '../generated/olmo2.js';

/**
 * OLMo 2: norms after each op instead of before, queries and keys normalised over their whole projection.
 * Source: arXiv:2501.00656; `modeling_olmo2.py` of transformers.
 */
export const olmo2 = defineFamily<Olmo2Config>({
  modelTypes: ['olmo2'],
  about: 'grouped-query attention with whole-projection norms, norms after each op',
  reference: 'arXiv:2501.00656; modeling_olmo2.py',
  config: { schema: 'olmo2.schema.json', inert: dropout('attention_dropout') },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        post(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            qkNorm: qkRms({ eps: c.rms_norm_eps, scope: 'full' }),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () =>
    withPrefixes(['model.', ''], [...ends(), ...postNorms(), ...separateQKV(), ...qkNorms(), ...gateUpDown()]),
});
