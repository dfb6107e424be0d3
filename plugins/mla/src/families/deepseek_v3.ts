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
  moe,
  plainShared,
  pre,
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
import type { DeepseekV3Config } from '../generated/deepseek_v3.js';
import { latentAttention, latentNames } from '../latent-attention.js';

/**
 * DeepSeek V3 and R1, Kimi K2: latent attention, and experts scored by sigmoids in groups beside a shared one, after a
 * few dense layers. Files hold further layers, which predict more tokens at once.
 * Source: arXiv:2412.19437; `modeling_deepseek_v3.py` of transformers.
 */
export const deepseekV3 = defineFamily<DeepseekV3Config>({
  modelTypes: ['deepseek_v3', 'kimi_k2'],
  about: 'latent attention, experts chosen by sigmoids within groups beside shared ones',
  reference: 'arXiv:2412.19437; modeling_deepseek_v3.py',
  config: {
    schema: 'deepseek_v3.schema.json',
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

const feedForwards = (c: DeepseekV3Config, activation = activationOf(c.hidden_act)) => {
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
