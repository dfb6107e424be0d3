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
  qkNorms,
  qkRms,
  refuseConfig,
  rms,
  rope,
  ropeTablesOf,
  sandwich,
  sandwichNorms,
  separateQKV,
  withPrefixes,
} from '@kvad/core/plugin';
import type { Gemma3TextConfig } from '../generated/gemma3_text.js';

/**
 * Gemma 3's text model: Gemma 2 with normalised queries and keys instead of softcaps, five windowed layers to one
 * that sees all, and a rotary table for each of the two kinds.
 * Source: arXiv:2503.19786; `modeling_gemma3.py` of transformers.
 */
export const gemma3Text = defineFamily<Gemma3TextConfig>({
  modelTypes: ['gemma3_text'],
  about: 'grouped-query attention with normalised queries and keys, five of six layers with a window',
  reference: 'arXiv:2503.19786; modeling_gemma3.py',
  config: {
    schema: 'gemma3_text.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      attn_logit_softcapping: 'only null is accepted: scores have no cap',
      use_bidirectional_attention: 'only null and false are accepted: attention is causal',
      sliding_window_pattern: 'layer_types decides where it is given',
      _sliding_window_pattern: 'layer_types decides where it is given',
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
            qkNorm: qkRms({ eps: c.rms_norm_eps, offset: 1 }),
            positions: rope(windows(i) === null ? 'full' : 'sliding'),
            mask: causal(windows(i)),
          },
          ffn: {
            kind: 'glu',
            activation: activationOf(c.hidden_activation, 'hidden_activation'),
            size: c.intermediate_size,
            bias: false,
          },
        }),
      rope: tablesOf(c, dims.attention.headDim),
      finalNorm: rms(c.rms_norm_eps, 1),
      head: { tied: c.tie_word_embeddings, softcap: c.final_logit_softcapping },
    }),

  weights: () =>
    withPrefixes(['model.', ''], [...ends(), ...sandwichNorms(), ...separateQKV(), ...qkNorms(), ...gateUpDown()]),
});

const windowsOf = (c: Gemma3TextConfig) =>
  layerWindows({
    layers: c.num_hidden_layers,
    types: c.layer_types,
    window: c.sliding_window,
    slides: (layer) => (layer + 1) % c.sliding_window_pattern !== 0,
  });

/** Settings of older files, which have no table for each kind of layer, are meant for the layers that see all. */
const tablesOf = (c: Gemma3TextConfig, headDim: number) => {
  const tables = ropeTablesOf(c, {
    full_attention: { headDim, scaled: true, defaultTheta: 1_000_000 },
    sliding_attention: { headDim, defaultTheta: 10_000, keys: { theta: ['rope_local_base_freq'] } },
  });
  const given = (kind: keyof typeof tables) =>
    tables[kind] ?? refuseConfig(`rope_parameters.${kind}`, null, 'leaves layers without positions');
  return { full: given('full_attention'), sliding: given('sliding_attention') };
};
