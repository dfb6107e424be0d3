import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  gateUpDown,
  layerNorm,
  pre,
  rope,
  ropeOf,
  separateQKV,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { OlmoConfig } from '../generated/olmo.js';

/**
 * OLMo: Llama's layer with layer norms that have no weights, and projections that may be clipped.
 * Source: arXiv:2402.00838; `modeling_olmo.py` of transformers.
 */
export const olmo = defineFamily<OlmoConfig>({
  modelTypes: ['olmo'],
  about: 'grouped-query attention, gated feed-forward, layer norms without weights',
  reference: 'arXiv:2402.00838; modeling_olmo.py',
  config: {
    schema: 'olmo.schema.json',
    inert: { ...dropout('attention_dropout'), rms_norm_eps: 'its norms are layer norms, always with 1e-5' },
  },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        pre(bare, {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            ...(c.clip_qkv === null ? {} : { clip: c.clip_qkv }),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: bare,
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () => withPrefixes(['model.', ''], [...standardDecoder(), ...separateQKV(), ...gateUpDown()]),
});

const bare = layerNorm(1e-5, { weight: false, bias: false });
