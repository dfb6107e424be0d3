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
  layerNorm,
  layerWindows,
  noPositions,
  oneNorm,
  parallel,
  rope,
  ropeOf,
  separateQKV,
  withPrefixes,
} from '@kvad/core/plugin';
import { COHERE_WORDS } from '../cohere-words.js';
import type { Cohere2Config } from '../generated/cohere2.js';

/**
 * Cohere 2 (Command R7B, Command A): Cohere's parallel layer, three of four with a window and rotary positions, the
 * fourth without either.
 * Source: arXiv:2501.18795; `modeling_cohere2.py` of transformers.
 */
export const cohere2 = defineFamily<Cohere2Config>({
  modelTypes: ['cohere2'],
  about: 'parallel attention and gated feed-forward; layers with window and rope, and layers with neither',
  reference: 'arXiv:2501.18795; modeling_cohere2.py',
  config: {
    schema: 'cohere2.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      ...COHERE_WORDS,
      rms_norm_eps: 'its norms are layer norms, with layer_norm_eps',
      sliding_window_pattern: 'layer_types decides where it is given',
      layer_switch: 'only 4, the published pattern, is accepted',
      order_of_interleaved_layers: 'only local_attn_first is accepted: the last layer of each group sees all',
    },
  },

  plan: (c, dims = decoderDims(c), norm = layerNorm(c.layer_norm_eps, { bias: false }), windows = windowsOf(c)) =>
    decoder({
      ...dims.model,
      layer: (i) =>
        parallel(norm, {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            positions: windows(i) === null ? noPositions : rope('main', 'interleaved'),
            mask: causal(windows(i)),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: norm,
      head: { tied: c.tie_word_embeddings, logitScale: c.logit_scale },
    }),

  weights: () =>
    withPrefixes(['model.', ''], [...ends(), ...oneNorm('input_layernorm'), ...separateQKV(), ...gateUpDown()]),
});

const windowsOf = (c: Cohere2Config) =>
  layerWindows({
    layers: c.num_hidden_layers,
    types: c.layer_types,
    window: c.sliding_window,
    slides: (layer) => (layer + 1) % c.sliding_window_pattern !== 0,
  });
