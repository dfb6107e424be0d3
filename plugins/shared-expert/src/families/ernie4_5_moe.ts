import {
  activated,
  activationOf,
  betweenLayers,
  biases,
  byLayer,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  eitherName,
  gateUpDown,
  moe,
  plainShared,
  pre,
  rms,
  rope,
  ropeOf,
  routerNames,
  routerTraining,
  selectionBias,
  separateExperts,
  separateQKV,
  sharedExpert,
  softmaxRouter,
  stackedExperts,
  standardDecoder,
  unneeded,
  withPrefixes,
  type WeightRule,
} from '@kvad/core/plugin';
import type { Ernie45MoeConfig } from '../generated/ernie4_5_moe.js';

/**
 * ERNIE 4.5 with experts: attention with interleaved rotation; experts scored by a softmax, chosen with a bias, beside
 * shared ones; one key for all biases. Its files hold a layer more, which predicts further tokens.
 * Source: `modeling_ernie4_5_moe.py` of transformers.
 */
export const ernie45Moe = defineFamily<Ernie45MoeConfig>({
  modelTypes: ['ernie4_5_moe'],
  about: 'grouped-query attention with interleaved rotation, experts chosen by a softmax with bias beside shared ones',
  reference: 'modeling_ernie4_5_moe.py',
  config: {
    schema: 'ernie4_5_moe.schema.json',
    inert: {
      ...routerTraining,
      moe_capacity: 'how many tokens an expert takes in training',
      moe_gate: 'only topk is accepted: the experts with the largest scores are chosen',
      moe_use_aux_free: 'only true is accepted: experts are chosen with a bias',
      num_nextn_predict_layers: 'layers that predict further tokens are not run',
      use_rmsnorm: 'only true is accepted: its norms have no mean',
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
            bias: biases({ qkv: c.use_bias, o: c.use_bias }),
            positions: rope('main', 'interleaved'),
            mask: causal(),
          },
          ffn: ffn(i),
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings, bias: c.use_bias },
    }),

  weights: (c) => withPrefixes(['model.', ''], names(expertsOf(c))),
});

const expertsOf = (c: Ernie45MoeConfig): number => eitherName(c, 'moe_num_experts', 'num_experts', 64);

const sparseLayers = (c: Ernie45MoeConfig) =>
  betweenLayers(
    c.moe_layer_start_index,
    c.moe_layer_end_index === -1 ? c.num_hidden_layers - 1 : c.moe_layer_end_index,
    c.moe_layer_interval,
  );

const feedForwards = (c: Ernie45MoeConfig, activation = activationOf(c.hidden_act), bias = c.use_bias) => {
  const dense = { kind: 'glu', activation, size: c.intermediate_size, bias };
  const sharedSize = c.moe_intermediate_size * c.moe_num_shared_experts;
  const choice = {
    experts: expertsOf(c),
    perToken: eitherName(c, 'moe_k', 'num_experts_per_tok', 6),
    size: c.moe_intermediate_size,
    gating: activated(activation),
    router: softmaxRouter({ selectionBias: true, normalise: { by: 'clamped-sum', floor: c.moe_norm_min } }),
    shared: sharedSize === 0 ? null : plainShared({ activation, size: sharedSize, bias }),
  };
  return byLayer(sparseLayers(c), moe(choice, 'moe_k'), dense);
};

const names = (count: number): WeightRule[] => [
  ...standardDecoder(),
  ...separateQKV(),
  ...gateUpDown(),
  ...routerNames('mlp.gate'),
  selectionBias('mlp.moe_statics.e_score_correction_bias', { op: 'reshape', shape: [count] }),
  selectionBias('mlp.gate.moe_statics.e_score_correction_bias', { op: 'reshape', shape: [count] }),
  ...separateExperts('mlp.experts.', count),
  ...stackedExperts('mlp.experts.gate_up_proj', 'mlp.experts.down_proj'),
  ...sharedExpert('mlp.shared_experts.'),
  unneeded('{prefix}mtp_*', 'a layer that predicts further tokens, which is not run'),
];
