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
  everyLayer,
  gatedShared,
  gateUpDown,
  layerWindows,
  moe,
  pre,
  rms,
  rope,
  ropeOf,
  routerNames,
  routerTraining,
  separateExperts,
  separateQKV,
  sharedExpert,
  softmaxRouter,
  stackedExperts,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { Qwen2MoeConfig } from '../generated/qwen2_moe.js';

/**
 * Qwen2 with experts: Qwen2's attention; experts beside a shared one that has a gate of its own, and dense layers as
 * two keys say. A window, where it is switched on, is on every second of the first layers.
 * Source: arXiv:2407.10671; `modeling_qwen2_moe.py` of transformers.
 */
export const qwen2Moe = defineFamily<Qwen2MoeConfig>({
  modelTypes: ['qwen2_moe'],
  about: 'grouped-query attention with biases, experts chosen by a softmax beside a gated shared one',
  reference: 'arXiv:2407.10671; modeling_qwen2_moe.py',
  config: { schema: 'qwen2_moe.schema.json', inert: { ...dropout('attention_dropout'), ...routerTraining } },

  plan: (c, dims = decoderDims(c), windows = windowsOf(c), ffn = feedForwards(c)) =>
    decoder({
      ...dims.model,
      layer: (i) =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.qkv_bias, o: false }),
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
        ...gateUpDown(),
        ...routerNames('mlp.gate'),
        ...separateExperts('mlp.experts.', c.num_experts),
        ...stackedExperts('mlp.experts.gate_up_proj', 'mlp.experts.down_proj'),
        ...sharedExpert('mlp.shared_expert.', 'mlp.shared_expert_gate'),
      ],
    ),
});

const feedForwards = (c: Qwen2MoeConfig, activation = activationOf(c.hidden_act)) => {
  const dense = { kind: 'glu', activation, size: c.intermediate_size, bias: false };
  const sparse = moe({
    experts: c.num_experts,
    perToken: c.num_experts_per_tok,
    size: c.moe_intermediate_size,
    gating: activated(activation),
    router: softmaxRouter({ normalise: c.norm_topk_prob ? bySum() : byNothing }),
    shared: gatedShared({ activation, size: c.shared_expert_intermediate_size }),
  });
  return byLayer(everyLayer(c.decoder_sparse_step, c.mlp_only_layers ?? []), sparse, dense);
};

const windowsOf = (c: Qwen2MoeConfig, window = c.sliding_window, end = c.max_window_layers) =>
  layerWindows({
    layers: c.num_hidden_layers,
    types: c.layer_types,
    window: c.use_sliding_window && window !== 0 ? window : null,
    slides: (layer) => layer % 2 === 0 && layer < end,
  });
