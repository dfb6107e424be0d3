import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  gateUpDown,
  layerWindows,
  noPositions,
  pre,
  rms,
  rope,
  ropeOf,
  separateQKV,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { Smollm3Config } from '../generated/smollm3.js';

/**
 * SmolLM3: Llama's layer, every fourth without positions (NoPE); windows, where used, on those layers.
 * Source: arXiv:2501.18795 (NoPE layers); `modeling_smollm3.py` of transformers.
 */
export const smollm3 = defineFamily<Smollm3Config>({
  modelTypes: ['smollm3'],
  about: 'grouped-query attention with layers without positions, gated feed-forward',
  reference: 'arXiv:2501.18795; modeling_smollm3.py',
  config: {
    schema: 'smollm3.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      max_window_layers: 'left over from another family; layer_types decides',
      no_rope_layer_interval: 'no_rope_layers decides where it is given',
      pretraining_tp: 'cut matrix products into pieces in training; their sum is the same product',
    },
  },

  plan: (c, dims = decoderDims(c), turns = rotated(c), windows = windowsOf(c, turns)) =>
    decoder({
      ...dims.model,
      layer: (i) =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            positions: turns(i) ? rope('main') : noPositions,
            mask: causal(windows(i)),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: c.mlp_bias },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () => withPrefixes(['model.', ''], [...standardDecoder(), ...separateQKV(), ...gateUpDown()]),
});

/** `no_rope_layers` says 1 for a layer that does have positions. */
const rotated = (c: Smollm3Config) => {
  const { no_rope_layers: marks } = c;
  return (layer: number): boolean =>
    marks === null ? (layer + 1) % c.no_rope_layer_interval !== 0 : marks[layer] === 1;
};

const windowsOf = (c: Smollm3Config, turns: (layer: number) => boolean) =>
  layerWindows({
    layers: c.num_hidden_layers,
    types: c.layer_types,
    window: c.use_sliding_window ? c.sliding_window : null,
    slides: (layer) => !turns(layer),
  });
