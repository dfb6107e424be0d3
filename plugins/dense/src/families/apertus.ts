import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  ends,
  from,
  norms,
  pre,
  qkNorms,
  qkRms,
  rms,
  rope,
  ropeOf,
  separateQKV,
  upDown,
  withPrefixes,
} from '@kvad/core/plugin';
import { dropout } from '../dropout.js';
import type { ApertusConfig } from '../generated/apertus.js';

/**
 * Apertus: normalised queries and keys, and a two-matrix feed-forward whose activation, xIELU, has weights.
 * Source: arXiv:2509.14233, 2411.13010; `modeling_apertus.py` of transformers.
 */
export const apertus = defineFamily<ApertusConfig>({
  modelTypes: ['apertus'],
  about: 'grouped-query attention with normalised queries and keys, two-matrix feed-forward with xIELU',
  reference: 'arXiv:2509.14233, 2411.13010; modeling_apertus.py',
  config: {
    schema: 'apertus.schema.json',
    inert: {
      ...dropout('attention_dropout', 'hidden_dropout'),
      mlp_bias: 'only false is accepted: the feed-forward has no bias',
      post_norm: 'only false is accepted: norms stand before each op',
      qk_norm: 'only true is accepted: queries and keys are normalised',
    },
  },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            qkNorm: qkRms({ eps: c.rms_norm_eps }),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: { kind: 'mlp', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () =>
    withPrefixes(
      ['model.', ''],
      [
        ...ends(),
        ...norms({ 'mixer.norm.before': 'attention_layernorm', 'ffn.norm.before': 'feedforward_layernorm' }),
        ...separateQKV(),
        ...qkNorms(),
        ...upDown('mlp.up_proj', 'mlp.down_proj'),
        ...['alpha_p', 'alpha_n', 'beta', 'eps'].map((name) =>
          from(`layers.{layer}.ffn.activation.${name}`, `{prefix}layers.{layer}.mlp.act_fn.${name}`),
        ),
      ],
    ),
});
