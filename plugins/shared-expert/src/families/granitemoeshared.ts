import {
  activated,
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  fusedSharedExpert,
  moe,
  plainShared,
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
import type { GraniteMoeSharedConfig } from '../generated/granitemoeshared.js';

/**
 * Granite with experts and a shared one: Granite's four multipliers; experts are taken by their logits, whose softmax
 * weighs them.
 * Source: `modeling_granitemoeshared.py` of transformers.
 */
export const graniteMoeShared = defineFamily<GraniteMoeSharedConfig>({
  modelTypes: ['granitemoeshared'],
  about:
    'grouped-query attention, experts by a softmax over the chosen beside a shared one, scaled residual and logits',
  reference: 'modeling_granitemoeshared.py',
  config: { schema: 'granitemoeshared.schema.json', inert: { ...dropout('attention_dropout'), ...routerTraining } },

  plan: (c, dims = decoderDims(c), activation = activationOf(c.hidden_act)) =>
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
              gating: activated(activation),
              router: topKSoftmaxRouter({ bias: false }),
              shared:
                c.shared_intermediate_size === 0 ? null : plainShared({ activation, size: c.shared_intermediate_size }),
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
        ...fusedSharedExpert('shared_mlp.input_linear', 'shared_mlp.output_linear'),
      ],
    ),
});
