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
import type { MistralConfig } from '../generated/mistral.js';

/**
 * Mistral: Llama's layer without biases; where a window is set, every layer has it.
 * Source: arXiv:2310.06825; `modeling_mistral.py` of transformers.
 */
export const mistral = defineFamily<MistralConfig>({
  modelTypes: ['mistral'],
  about: 'grouped-query attention with a window on all layers, gated feed-forward',
  reference: 'arXiv:2310.06825; modeling_mistral.py',
  config: { schema: 'mistral.schema.json', inert: dropout('attention_dropout') },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: false, o: false }),
            positions: rope('main'),
            mask: causal(c.sliding_window),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () => withPrefixes(['model.', ''], [...standardDecoder(), ...separateQKV(), ...gateUpDown()]),
});
