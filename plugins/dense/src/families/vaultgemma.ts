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
  norms,
  pre,
  rms,
  rope,
  ropeOf,
  separateQKV,
  withPrefixes,
} from '@kvad/core/plugin';
import type { VaultgemmaConfig } from '../generated/vaultgemma.js';

/**
 * VaultGemma: Gemma 2 without the norms after the ops.
 * Source: arXiv:2510.15001; `modeling_vaultgemma.py` of transformers.
 */
export const vaultgemma = defineFamily<VaultgemmaConfig>({
  modelTypes: ['vaultgemma'],
  about: 'grouped-query attention with softcap and alternating windows, scaled embedding',
  reference: 'arXiv:2510.15001; modeling_vaultgemma.py',
  config: {
    schema: 'vaultgemma.schema.json',
    inert: dropout('attention_dropout'),
  },

  plan: (c, dims = decoderDims(c), windows = windowsOf(c)) =>
    decoder({
      ...dims.model,
      embedding: { scale: Math.sqrt(c.hidden_size) },
      layer: (i) =>
        pre(rms(c.rms_norm_eps, 1), {
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

  weights: () =>
    withPrefixes(
      ['model.', ''],
      [
        ...ends(),
        ...norms({ 'mixer.norm.before': 'input_layernorm', 'ffn.norm.before': 'pre_feedforward_layernorm' }),
        ...separateQKV(),
        ...gateUpDown(),
      ],
    ),
});

const windowsOf = (c: VaultgemmaConfig) =>
  layerWindows({
    layers: c.num_hidden_layers,
    types: c.layer_types,
    window: c.sliding_window,
    slides: (layer) => layer % 2 === 0,
  });
