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
  layerWindows,
  rms,
  rope,
  ropeOf,
  sandwich,
  sandwichNorms,
  separateQKV,
  withPrefixes,
} from '@kvad/core/plugin';
import type { Gemma2Config } from '../generated/gemma2.js';

/**
 * Gemma 2: a norm before and after each op, softcaps on scores and logits, every second layer with a window, and a
 * score scale of its own.
 * Source: arXiv:2408.00118; `modeling_gemma2.py` of transformers.
 */
export const gemma2 = defineFamily<Gemma2Config>({
  modelTypes: ['gemma2'],
  about: 'grouped-query attention with softcap and alternating windows, norms around each op',
  reference: 'arXiv:2408.00118; modeling_gemma2.py',
  config: {
    schema: 'gemma2.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      hidden_act: 'an older name of hidden_activation, which decides',
      sliding_window_size: 'an older name of sliding_window, which decides',
      use_bidirectional_attention: 'only null and false are accepted: attention is causal',
    },
  },

  plan: (c, dims = decoderDims(c), windows = windowsOf(c)) =>
    decoder({
      ...dims.model,
      embedding: { scale: Math.sqrt(c.hidden_size) },
      layer: (i) =>
        sandwich(rms(c.rms_norm_eps, 1), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            scale: c.query_pre_attn_scalar ** -0.5,
            ...(c.attn_logit_softcapping === null ? {} : { softcap: c.attn_logit_softcapping }),
            positions: rope('main'),
            mask: causal(windows(i)),
          },
          ffn: {
            kind: 'glu',
            activation: activationOf(c.hidden_activation, 'hidden_activation'),
            size: c.intermediate_size,
            bias: false,
          },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps, 1),
      head: { tied: c.tie_word_embeddings, softcap: c.final_logit_softcapping },
    }),

  weights: () => withPrefixes(['model.', ''], [...ends(), ...sandwichNorms(), ...separateQKV(), ...gateUpDown()]),
});

const windowsOf = (c: Gemma2Config) =>
  layerWindows({
    layers: c.num_hidden_layers,
    types: c.layer_types,
    window: c.sliding_window,
    slides: (layer) => layer % 2 === 0,
  });
