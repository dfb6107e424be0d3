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
  unneeded,
  withPrefixes,
} from '@kvad/core/plugin';
import type { Glm4MoeConfig } from '../generated/glm4_moe.js';

/**
 * GLM-4.5: attention that rotates half of each head, and experts scored by sigmoids beside a shared one, after a few
 * dense layers. Its files hold a layer more, which predicts further tokens.
 * Source: arXiv:2508.06471; `modeling_glm4_moe.py` of transformers.
 */
export const glm4Moe = defineFamily<Glm4MoeConfig>({
  modelTypes: ['glm4_moe'],
  about: 'grouped-query attention with partial rotation, experts chosen by sigmoids beside shared ones',
  reference: 'arXiv:2508.06471; modeling_glm4_moe.py',
  config: {
    schema: 'glm4_moe.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      ...routerTraining,
      num_nextn_predict_layers: 'layers that predict further tokens are not run',
      num_mtp_layers: 'layers that predict further tokens are not run',
    },
  },

  plan: (c, dims = decoderDims(c), ffn = feedForwards(c)) =>
    decoder({
      ...dims.model,
      layer: (i) =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: false }),
            ...(c.use_qk_norm ? { qkNorm: qkRms({ eps: c.rms_norm_eps }) } : {}),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: ffn(i),
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim, partial: true }) },
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
        unneeded(`{prefix}layers.${c.num_hidden_layers}.*`, 'a layer that predicts further tokens, which is not run'),
      ],
    ),
});

const feedForwards = (c: Glm4MoeConfig, activation = activationOf(c.hidden_act)) => {
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
