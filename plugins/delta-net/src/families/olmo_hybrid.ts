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
  noPositions,
  norms,
  post,
  postNorms,
  pre,
  qkNorms,
  qkRms,
  rms,
  rope,
  separateQKV,
  withPrefixes,
} from '@kvad/core/plugin';
import { deltaNetEnds, oneConvolution, separateInputs, threeConvolutions } from '../delta-net-names.js';
import { gatedDeltaNet } from '../delta-net-words.js';
import type { OlmoHybridConfig } from '../generated/olmo_hybrid.js';
import { olmoDeltaNetDims, olmoLinearLayers, olmoRope } from '../olmo-hybrid-config.js';

/** `linear_a_log_min` and the others. */
const FIRST_WEIGHTS = Object.fromEntries(
  ['a_log_min', 'a_log_max', 'dt_min', 'dt_max', 'dt_init_floor'].map((key) => [
    `linear_${key}`,
    'draws the first weights of a training run',
  ]),
);

/**
 * OLMo Hybrid: three layers of gated delta net, whose corrections may turn round what is held, to one of OLMo 3's
 * attention; norms before the ops of the former and after those of the latter. Published without positions.
 * Source: `modeling_olmo_hybrid.py` of transformers; arXiv:2411.12537 (negative eigenvalues).
 */
export const olmoHybrid = defineFamily<OlmoHybridConfig>({
  modelTypes: ['olmo_hybrid'],
  about: 'gated delta net, norms before it, and attention, norms after it, three to one',
  reference: 'arXiv:2411.12537; modeling_olmo_hybrid.py',
  config: {
    schema: 'olmo_hybrid.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      ...FIRST_WEIGHTS,
      'rope_parameters.rope_type': 'a null theta leaves no positions to turn by',
    },
  },

  plan: (c, dims = decoderDims(c), isLinear = olmoLinearLayers(c), table = olmoRope(c, dims.attention.headDim)) =>
    decoder({
      ...dims.model,
      layer: (i) => {
        const ffn = { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false };
        if (isLinear(i)) {
          return pre(rms(c.rms_norm_eps), {
            mixer: gatedDeltaNet({
              dims: olmoDeltaNetDims(c),
              kernel: c.linear_conv_kernel_dim,
              activation: c.hidden_act,
              outEps: 1e-5,
              negative: c.linear_allow_neg_eigval,
            }),
            ffn,
          });
        }
        return post(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            qkNorm: qkRms({ eps: c.rms_norm_eps, scope: 'full' }),
            positions: table === null ? noPositions : rope('main'),
            mask: causal(),
          },
          ffn,
        });
      },
      rope: table === null ? {} : { main: table },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () =>
    withPrefixes(
      ['model.', ''],
      [
        ...ends(),
        ...norms({ 'mixer.norm.before': 'attention_layer_norm', 'ffn.norm.before': 'feedforward_layer_norm' }),
        ...norms({ 'mixer.norm.before': 'input_layernorm', 'ffn.norm.before': 'post_attention_layernorm' }),
        ...postNorms(),
        ...norms({ 'mixer.norm.after': 'feedforward_layer_norm' }),
        ...separateQKV(),
        ...qkNorms(),
        ...separateInputs(),
        threeConvolutions(),
        oneConvolution(),
        ...deltaNetEnds({ norm: 'o_norm', out: 'o_proj' }),
        ...gateUpDown(),
      ],
    ),
});
