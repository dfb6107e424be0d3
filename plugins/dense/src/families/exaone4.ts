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
  noPositions,
  post,
  postNorms,
  qkNorms,
  qkRms,
  refuseConfig,
  rms,
  rope,
  ropeOf,
  separateQKV,
  withPrefixes,
} from '@kvad/core/plugin';
import type { Exaone4Config } from '../generated/exaone4.js';

/**
 * EXAONE 4: norms after each op, normalised queries and keys; where a window is set, three of four layers have it and
 * only those have positions.
 * Source: arXiv:2507.11407; `modeling_exaone4.py` of transformers.
 */
export const exaone4 = defineFamily<Exaone4Config>({
  modelTypes: ['exaone4'],
  about: 'grouped-query attention with normalised queries and keys, norms after each op',
  reference: 'arXiv:2507.11407; modeling_exaone4.py',
  config: {
    schema: 'exaone4.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      sliding_window_pattern: 'layer_types decides where it is given',
    },
  },

  plan: (c, dims = decoderDims(c), windows = windowsOf(c)) =>
    decoder({
      ...dims.model,
      layer: (i) =>
        post(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: false, o: false }),
            qkNorm: qkRms({ eps: c.rms_norm_eps }),
            positions: c.sliding_window === null || windows(i) !== null ? rope('main') : noPositions,
            mask: causal(windows(i)),
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

const windowsOf = (c: Exaone4Config) =>
  layerWindows({
    layers: c.num_hidden_layers,
    types: c.layer_types,
    window: c.sliding_window,
    slides: (layer) => c.sliding_window !== null && (layer + 1) % periodOf(c) !== 0,
  });

/** Letters, and the 0 that is written where no window is set, come with `layer_types`: nothing published counts by them. */
const periodOf = ({ sliding_window_pattern: pattern }: Exaone4Config): number =>
  typeof pattern === 'number' && pattern > 0
    ? pattern
    : refuseConfig('sliding_window_pattern', pattern, 'is no number of layers, and "layer_types" does not list them');
