import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  fusedGateUp,
  pre,
  rms,
  rope,
  ropeOf,
  separateQKV,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { GlmConfig } from '../generated/glm.js';

/**
 * GLM-4 (9B): biased queries, keys and values, interleaved rotary positions on half of each head, fused gate and up.
 * Source: arXiv:2406.12793; `modeling_glm.py` of transformers.
 */
export const glm = defineFamily<GlmConfig>({
  modelTypes: ['glm'],
  about: 'grouped-query attention with partial interleaved rotation, gated feed-forward',
  reference: 'arXiv:2406.12793; modeling_glm.py',
  config: { schema: 'glm.schema.json', inert: dropout('attention_dropout') },

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
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim, partial: true }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () => withPrefixes(['model.', ''], [...standardDecoder(), ...separateQKV(), ...fusedGateUp()]),
});
