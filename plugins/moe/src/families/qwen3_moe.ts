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
  eitherName,
  everyLayer,
  gateUpDown,
  moe,
  pre,
  qkNorms,
  qkRms,
  rms,
  rope,
  ropeOf,
  routerNames,
  routerTraining,
  separateExperts,
  separateQKV,
  softmaxRouter,
  stackedExperts,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { Qwen3MoeConfig } from '../generated/qwen3_moe.js';

/**
 * Qwen3 with experts: Qwen3's attention; layers with experts, and dense ones as two keys say. A window, where it is
 * switched on, is on all layers.
 * Source: arXiv:2505.09388; `modeling_qwen3_moe.py` of transformers.
 */
export const qwen3Moe = defineFamily<Qwen3MoeConfig>({
  modelTypes: ['qwen3_moe'],
  about: 'grouped-query attention with normalised queries and keys, experts chosen by a softmax',
  reference: 'arXiv:2505.09388; modeling_qwen3_moe.py',
  config: {
    schema: 'qwen3_moe.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      ...routerTraining,
      max_window_layers: 'a window is on all layers or on none',
      qkv_bias: 'only false is accepted; attention_bias decides',
      shared_expert_intermediate_size: 'only 0 is accepted: there is no shared expert',
      use_qk_norm: 'only true is accepted',
    },
  },

  plan: (c, dims = decoderDims(c), window = windowOf(c), ffn = feedForwards(c)) =>
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
            mask: causal(window),
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
        ...separateExperts('mlp.experts.', expertsOf(c)),
        ...stackedExperts('mlp.experts.gate_up_proj', 'mlp.experts.down_proj'),
      ],
    ),
});

const expertsOf = (c: Qwen3MoeConfig): number => eitherName(c, 'num_experts', 'num_local_experts', 128);

const windowOf = ({ use_sliding_window: used, sliding_window: window }: Qwen3MoeConfig) => (used ? window : null);

const feedForwards = (c: Qwen3MoeConfig, activation = activationOf(c.hidden_act)) => {
  const dense = { kind: 'glu', activation, size: c.intermediate_size, bias: false };
  const sparse = moe({
    experts: expertsOf(c),
    perToken: c.num_experts_per_tok,
    size: c.moe_intermediate_size,
    gating: activated(activation),
    router: softmaxRouter({ normalise: c.norm_topk_prob ? bySum() : byNothing }),
  });
  return byLayer(everyLayer(c.decoder_sparse_step, c.mlp_only_layers ?? []), sparse, dense);
};
