import {
  biases,
  causal,
  clampedSwish,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  eitherName,
  from,
  interleavedExperts,
  layerWindows,
  moe,
  pre,
  refuseConfig,
  rms,
  rope,
  ropeOf,
  routerNames,
  routerTraining,
  separateQKV,
  standardDecoder,
  topKSoftmaxRouter,
  withPrefixes,
  type RopeTablePlan,
} from '@kvad/core/plugin';
import type { GptOssConfig } from '../generated/gpt_oss.js';

/**
 * gpt-oss: attention with a sink per head and a window in every second layer; experts with biases, whose gate and up
 * are cut and joined with `up + 1`. Published files in mxfp4 are refused by their `quantization_config`.
 * Source: arXiv:2508.10925; `modeling_gpt_oss.py` of transformers.
 */
export const gptOss = defineFamily<GptOssConfig>({
  modelTypes: ['gpt_oss'],
  about: 'grouped-query attention with sinks and windows by layer, experts by a softmax over the chosen',
  reference: 'arXiv:2508.10925; modeling_gpt_oss.py',
  config: {
    schema: 'gpt_oss.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      ...routerTraining,
      experts_per_token: 'an older name of num_experts_per_tok, which decides',
      hidden_act: 'the gate of its experts is fixed',
      initial_context_length: 'the rotary settings say it',
    },
  },

  plan: (c, dims = decoderDims(c), windows = windowsOf(c)) =>
    decoder({
      ...dims.model,
      layer: (i) =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            positions: rope('main'),
            mask: causal(windows(i)),
            sinks: 'per-head',
          },
          ffn: moe({
            experts: eitherName(c, 'num_local_experts', 'num_experts', 128),
            perToken: c.num_experts_per_tok,
            size: c.intermediate_size,
            gating: clampedSwish(c.swiglu_limit, c.swiglu_alpha, 1),
            bias: true,
            router: topKSoftmaxRouter({ bias: true }),
          }),
        }),
      rope: { main: tableOf(c, dims.attention.headDim) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () =>
    withPrefixes(
      ['model.', ''],
      [
        ...standardDecoder(),
        ...separateQKV(),
        from('layers.{layer}.mixer.sinks', '{prefix}layers.{layer}.self_attn.sinks'),
        ...routerNames('mlp.router'),
        ...interleavedExperts('mlp.experts.gate_up_proj', 'mlp.experts.down_proj'),
      ],
    ),
});

const windowsOf = (c: GptOssConfig) =>
  layerWindows({
    layers: c.num_hidden_layers,
    types: c.layer_types,
    window: c.sliding_window,
    slides: (layer) => layer % 2 === 0,
  });

/**
 * Where the config has no settings: the yarn table of the published class. A null in their older place is read as
 * "none" by one release and as absent by the next.
 */
const tableOf = (c: GptOssConfig, headDim: number): RopeTablePlan => {
  if (c.rope_parameters ?? c.rope_scaling) return ropeOf(c, { headDim });
  if (c.rope_scaling === null)
    refuseConfig('rope_scaling', null, 'is no table in one release of the published code and a default in the next');
  const factor = 32;
  return {
    type: 'yarn',
    theta: c.rope_theta,
    dims: headDim,
    factor,
    originalContext: 4096,
    betaFast: 32,
    betaSlow: 1,
    attentionFactor: 0.1 * Math.log(factor) + 1,
    truncate: false,
  };
};
