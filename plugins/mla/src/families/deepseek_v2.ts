import {
  activated,
  activationOf,
  byLayer,
  byNothing,
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
  separateExperts,
  sharedExpert,
  softmaxRouter,
  stackedExperts,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import { derivedSizes } from '../derived-sizes.js';
import type { DeepseekV2Config } from '../generated/deepseek_v2.js';
import { latentAttention, latentNames } from '../latent-attention.js';

/**
 * DeepSeek V2: latent attention, with or without a latent for queries, and experts scored by a softmax beside shared
 * ones, after a few dense layers.
 * Source: arXiv:2405.04434; `modeling_deepseek_v2.py` of transformers.
 */
export const deepseekV2 = defineFamily<DeepseekV2Config>({
  modelTypes: ['deepseek_v2'],
  about: 'latent attention, experts chosen by a softmax beside shared ones',
  reference: 'arXiv:2405.04434; modeling_deepseek_v2.py',
  config: {
    schema: 'deepseek_v2.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      ...routerTraining,
      ...derivedSizes,
      norm_topk_prob: 'the published router of this family does not normalise',
      scoring_func: 'only softmax is accepted',
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
          mixer: latentAttention(c, table, 'interleaved'),
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
        ...separateExperts('mlp.experts.', c.n_routed_experts),
        ...stackedExperts('mlp.experts.gate_up_proj', 'mlp.experts.down_proj'),
        ...sharedExpert('mlp.shared_experts.'),
      ],
    ),
});

const feedForwards = (c: DeepseekV2Config, activation = activationOf(c.hidden_act)) => {
  const groups = expertGroups(c, 'max', 'zero');
  const dense = { kind: 'glu', activation, size: c.intermediate_size, bias: c.mlp_bias };
  const sparse = moe({
    experts: c.n_routed_experts,
    perToken: c.num_experts_per_tok,
    size: c.moe_intermediate_size,
    gating: activated(activation),
    router: softmaxRouter({
      normalise: byNothing,
      groups: c.topk_method === 'greedy' ? null : groups,
      scale: c.routed_scaling_factor,
    }),
    shared: plainShared({ activation, size: c.moe_intermediate_size * c.n_shared_experts, bias: c.mlp_bias }),
  });
  return byLayer(fromLayer(c.first_k_dense_replace), sparse, dense);
};
