import {
  activated,
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  moe,
  pre,
  rms,
  rope,
  ropeOf,
  routerNames,
  routerTraining,
  separateQKV,
  stackedExperts,
  standardDecoder,
  topKSoftmaxRouter,
  withPrefixes,
} from '@kvad/core/plugin';
import type { GraniteMoeConfig } from '../generated/granitemoe.js';

/**
 * Granite with experts: Granite's four multipliers; experts are taken by their logits, whose softmax weighs them.
 * Source: `modeling_granitemoe.py` of transformers.
 */
export const graniteMoe = defineFamily<GraniteMoeConfig>({
  modelTypes: ['granitemoe'],
  about: 'grouped-query attention, experts by a softmax over the chosen, scaled embedding, residual and logits',
  reference: 'modeling_granitemoe.py',
  config: { schema: 'granitemoe.schema.json', inert: { ...dropout('attention_dropout'), ...routerTraining } },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      embedding: { scale: c.embedding_multiplier },
      layer: () =>
        pre(
          rms(c.rms_norm_eps),
          {
            mixer: {
              kind: 'attention',
              ...dims.attention,
              bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
              scale: c.attention_multiplier,
              positions: rope('main'),
              mask: causal(),
            },
            ffn: moe({
              experts: c.num_local_experts,
              perToken: c.num_experts_per_tok,
              size: c.intermediate_size,
              gating: activated(activationOf(c.hidden_act)),
              router: topKSoftmaxRouter({ bias: false }),
            }),
          },
          c.residual_multiplier,
        ),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings, logitScale: 1 / c.logits_scaling },
    }),

  weights: () =>
    withPrefixes(
      ['model.', ''],
      [
        ...standardDecoder(),
        ...separateQKV(),
        ...routerNames('block_sparse_moe.router.layer'),
        ...stackedExperts('block_sparse_moe.input_linear.weight', 'block_sparse_moe.output_linear.weight'),
        ...routerNames('block_sparse_moe.router'),
        ...stackedExperts('block_sparse_moe.experts.gate_up_proj', 'block_sparse_moe.experts.down_proj'),
      ],
    ),
});
