import {
  activated,
  activationOf,
  biases,
  byNothing,
  byLayer,
  bySum,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  expertGroups,
  fromLayer,
  gateUpDown,
  layerWindows,
  moe,
  plainShared,
  pre,
  qkNorms,
  qkRms,
  rms,
  rope,
  ropeOf,
  routerNames,
  routerTraining,
  selectionBias,
  separateExperts,
  separateQKV,
  sharedExpert,
  sigmoidRouter,
  stackedExperts,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { Dots1Config } from '../generated/dots1.js';

/**
 * dots.llm1: Qwen3's attention, and experts scored by sigmoids beside shared ones, after a few dense layers.
 * Source: arXiv:2506.05767; `modeling_dots1.py` of transformers.
 */
export const dots1 = defineFamily<Dots1Config>({
  modelTypes: ['dots1'],
  about: 'attention with normalised queries and keys, experts chosen by sigmoids beside shared ones',
  reference: 'arXiv:2506.05767; modeling_dots1.py',
  config: {
    schema: 'dots1.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      ...routerTraining,
      moe_layer_freq: 'only 1 is accepted: every layer after the dense ones has experts',
      pretraining_tp: 'cut matrix products into pieces in training; their sum is the same product',
      scoring_func: 'experts are scored by sigmoids',
    },
  },

  plan: (c, dims = decoderDims(c), windows = windowsOf(c), ffn = feedForwards(c)) =>
    decoder({
      ...dims.model,
      layer: (i) =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            qkNorm: qkRms({ eps: c.rms_norm_eps }),
            positions: rope('main'),
            mask: causal(windows(i)),
          },
          ffn: ffn(i),
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: (c) =>
    withPrefixes(
      ['model.', ''],
      [
        ...standardDecoder(),
        ...separateQKV(),
        ...qkNorms(),
        ...gateUpDown(),
        ...routerNames('mlp.gate'),
        selectionBias('mlp.gate.e_score_correction_bias'),
        ...separateExperts('mlp.experts.', c.n_routed_experts),
        ...stackedExperts('mlp.experts.gate_up_proj', 'mlp.experts.down_proj'),
        ...sharedExpert('mlp.shared_experts.'),
      ],
    ),
});

const feedForwards = (c: Dots1Config, activation = activationOf(c.hidden_act)) => {
  const dense = { kind: 'glu', activation, size: c.intermediate_size, bias: false };
  const sparse = moe({
    experts: c.n_routed_experts,
    perToken: c.num_experts_per_tok,
    size: c.moe_intermediate_size,
    gating: activated(activation),
    router: sigmoidRouter({
      normalise: c.norm_topk_prob ? bySum(1e-20) : byNothing,
      groups: expertGroups(c, 'sum-of-two', 'lowest'),
      scale: c.routed_scaling_factor,
    }),
    shared: plainShared({ activation, size: c.moe_intermediate_size * c.n_shared_experts }),
  });
  return byLayer(fromLayer(c.first_k_dense_replace), sparse, dense);
};

const windowsOf = (c: Dots1Config, first = c.max_window_layers) =>
  layerWindows({
    layers: c.num_hidden_layers,
    types: c.layer_types,
    window: c.sliding_window,
    slides: (layer) => layer >= first,
  });
