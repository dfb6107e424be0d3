import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  ends,
  from,
  norms,
  pre,
  qkNorms,
  qkRms,
  refuseConfig,
  rms,
  rope,
  ropeOf,
  separateQKV,
  upDown,
  withPrefixes,
  type RopeTablePlan,
} from '@kvad/core/plugin';
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
      rope: { main: tableOf(c, dims.attention.headDim) },
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

/** Where the config has no settings: a llama3 table. A null is read as "none" by one release and as absent by the next. */
const tableOf = (c: ApertusConfig, headDim: number): RopeTablePlan => {
  if (c.rope_parameters ?? c.rope_scaling) return ropeOf(c, { headDim });
  if (c.rope_scaling === null || c.rope_theta !== DEFAULT_THETA)
    refuseConfig(
      'rope_theta',
      c.rope_theta,
      'comes without rotary settings, which published releases read differently',
    );
  return {
    type: 'llama3',
    theta: DEFAULT_THETA,
    dims: headDim,
    factor: 8,
    originalContext: 8192,
    lowFreqFactor: 1,
    highFreqFactor: 4,
  };
};

const DEFAULT_THETA = 12_000_000;
