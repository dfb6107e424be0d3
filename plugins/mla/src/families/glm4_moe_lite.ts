import {
  activated,
  activationOf,
  byLayer,
  byNothing,
  bySum,
  decoder,
  defineFamily,
  dropout,
  expertGroups,
  fromLayer,
  gateUpDown,
  listedLayers,
  moe,
  plainShared,
  pre,
  refuseConfig,
  rms,
  ropeOf,
  routerNames,
  routerTraining,
  selectionBias,
  separateExperts,
  sharedExpert,
  sigmoidRouter,
  stackedExperts,
  standardDecoder,
  unneeded,
  withPrefixes,
} from '@kvad/core/plugin';
import { derivedSizes } from '../derived-sizes.js';
import type { Glm4MoeLiteConfig } from '../generated/glm4_moe_lite.js';
import { latentAttention, latentNames } from '../latent-attention.js';

/**
 * GLM-4.7 Flash: latent attention, and experts scored by sigmoids beside a shared one in all layers but those that the
 * config lists as dense. Files hold a layer more, which predicts further tokens.
 * Source: arXiv:2508.06471; `modeling_glm4_moe_lite.py` of transformers.
 */
export const glm4MoeLite = defineFamily<Glm4MoeLiteConfig>({
  modelTypes: ['glm4_moe_lite'],
  about: 'latent attention, experts chosen by sigmoids beside shared ones',
  reference: 'arXiv:2508.06471; modeling_glm4_moe_lite.py',
  config: {
    schema: 'glm4_moe_lite.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      ...routerTraining,
      ...derivedSizes,
      scoring_func: 'only sigmoid is accepted',
      topk_method: 'only the choice by biased scores is accepted',
      num_nextn_predict_layers: 'layers that predict further tokens are not run',
      num_mtp_layers: 'layers that predict further tokens are not run',
    },
  },

  plan: (c, table = ropeOf(c, { headDim: c.qk_rope_head_dim }), ffn = feedForwards(c)) =>
    decoder({
      vocabSize: c.vocab_size,
      hiddenSize: c.hidden_size,
      contextLength: c.max_position_embeddings,
      layerCount: c.num_hidden_layers,
      layer: (i) =>
        pre(rms(c.rms_norm_eps), {
          mixer: latentAttention(c, table, c.rope_interleave ? 'interleaved' : 'half'),
          ffn: ffn(i),
        }),
      rope: { main: table },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: (c) =>
    withPrefixes(
      ['model.', ''],
      [
        ...standardDecoder(),
        ...latentNames(c),
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

const feedForwards = (c: Glm4MoeLiteConfig, activation = activationOf(c.hidden_act)) => {
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
  return byLayer(sparseLayers(c), sparse, dense);
};

/** Without a list the published class makes the first layer dense, whatever `first_k_dense_replace` says. */
const sparseLayers = (c: Glm4MoeLiteConfig) => {
  const { mlp_layer_types: types, first_k_dense_replace: dense } = c;
  if (types !== null) return listedLayers(types, c.num_hidden_layers);
  if (dense !== 1)
    refuseConfig('first_k_dense_replace', dense, 'is not 1, and "mlp_layer_types" does not list the layers');
  return fromLayer(1);
};
