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
  post,
  postNorms,
  qkNorms,
  qkRms,
  refuseConfig,
  rms,
  rope,
  ropeTablesOf,
  separateQKV,
  withPrefixes,
} from '@kvad/core/plugin';
import type { Olmo3Config } from '../generated/olmo3.js';

/**
 * OLMo 3: OLMo 2's layer, three of four with a window; settings for long contexts reach only those that see all.
 * Source: arXiv:2512.13961; `modeling_olmo3.py` of transformers.
 */
export const olmo3 = defineFamily<Olmo3Config>({
  modelTypes: ['olmo3'],
  about: 'grouped-query attention with whole-projection norms and windows, norms after each op',
  reference: 'arXiv:2512.13961; modeling_olmo3.py',
  config: { schema: 'olmo3.schema.json', inert: dropout('attention_dropout') },

  plan: (c, dims = decoderDims(c), windows = windowsOf(c)) =>
    decoder({
      ...dims.model,
      layer: (i) =>
        post(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            qkNorm: qkRms({ eps: c.rms_norm_eps, scope: 'full' }),
            positions: rope(windows(i) === null ? 'full' : 'sliding'),
            mask: causal(windows(i)),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: tablesOf(c, dims.attention.headDim),
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () =>
    withPrefixes(['model.', ''], [...ends(), ...postNorms(), ...separateQKV(), ...qkNorms(), ...gateUpDown()]),
});

const windowsOf = (c: Olmo3Config) =>
  layerWindows({
    layers: c.num_hidden_layers,
    types: c.layer_types,
    window: c.sliding_window,
    slides: (layer) => (layer + 1) % 4 !== 0,
  });

/** Settings of older files, which have no table for each kind of layer, are meant for the layers that see all. */
const tablesOf = (c: Olmo3Config, headDim: number) => {
  const tables = ropeTablesOf(c, {
    full_attention: { headDim, scaled: true, defaultTheta: 500_000 },
    sliding_attention: { headDim, defaultTheta: 500_000 },
  });
  const given = (kind: keyof typeof tables) =>
    tables[kind] ?? refuseConfig(`rope_parameters.${kind}`, null, 'leaves layers without positions');
  return { full: given('full_attention'), sliding: given('sliding_attention') };
};
