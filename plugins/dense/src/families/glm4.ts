import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  fusedGateUp,
  norms,
  rms,
  rope,
  ropeOf,
  sandwich,
  separateQKV,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { Glm4Config } from '../generated/glm4.js';

/**
 * GLM-4-0414: GLM's layer with a norm after each op as well.
 * Source: arXiv:2406.12793; `modeling_glm4.py` of transformers.
 */
export const glm4 = defineFamily<Glm4Config>({
  modelTypes: ['glm4'],
  about: 'grouped-query attention with partial interleaved rotation, norms around each op',
  reference: 'arXiv:2406.12793; modeling_glm4.py',
  config: { schema: 'glm4.schema.json', inert: dropout('attention_dropout') },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        sandwich(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: false }),
            positions: rope('main', 'interleaved'),
            mask: causal(),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim, partial: true }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () =>
    withPrefixes(
      ['model.', ''],
      [
        ...standardDecoder(),
        ...norms({ 'mixer.norm.after': 'post_self_attn_layernorm', 'ffn.norm.after': 'post_mlp_layernorm' }),
        ...separateQKV(),
        ...fusedGateUp(),
      ],
    ),
});
