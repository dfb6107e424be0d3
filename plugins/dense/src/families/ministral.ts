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
  pre,
  rms,
  rope,
  ropeOf,
  separateQKV,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { MinistralConfig } from '../generated/ministral.js';

/**
 * Ministral: Mistral's layer, with a window on the layers that `layer_types` names, or on all.
 * Source: `modeling_ministral.py` of transformers.
 */
export const ministral = defineFamily<MinistralConfig>({
  modelTypes: ['ministral'],
  about: 'grouped-query attention with windows by layer, gated feed-forward',
  reference: 'modeling_ministral.py',
  config: { schema: 'ministral.schema.json', inert: dropout('attention_dropout') },

  plan: (c, dims = decoderDims(c), windows = windowsOf(c)) =>
    decoder({
      ...dims.model,
      layer: (i) =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: false, o: false }),
            positions: rope('main'),
            mask: causal(windows(i)),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () => withPrefixes(['model.', ''], [...standardDecoder(), ...separateQKV(), ...gateUpDown()]),
});

const windowsOf = (c: MinistralConfig) =>
  layerWindows({
    layers: c.num_hidden_layers,
    types: c.layer_types,
    window: c.sliding_window,
    slides: () => true,
  });
