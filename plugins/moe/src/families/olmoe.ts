import {
  activated,
  activationOf,
  biases,
  byNothing,
  bySum,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  eitherName,
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
import type { OlmoeConfig } from '../generated/olmoe.js';

/**
 * OLMoE: queries and keys normalised over their whole projection, which are cut only after that; experts in every
 * layer.
 * Source: arXiv:2409.02060; `modeling_olmoe.py` of transformers.
 */
export const olmoe = defineFamily<OlmoeConfig>({
  modelTypes: ['olmoe'],
  about: 'attention with whole-projection norms, experts chosen by a softmax',
  reference: 'arXiv:2409.02060; modeling_olmoe.py',
  config: { schema: 'olmoe.schema.json', inert: { ...dropout('attention_dropout'), ...routerTraining } },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            qkNorm: qkRms({ eps: c.rms_norm_eps, scope: 'full' }),
            ...(c.clip_qkv === null ? {} : { clipNormed: c.clip_qkv }),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: moe({
            experts: expertsOf(c),
            perToken: c.num_experts_per_tok,
            size: c.intermediate_size,
            gating: activated(activationOf(c.hidden_act)),
            router: softmaxRouter({ normalise: c.norm_topk_prob ? bySum() : byNothing }),
          }),
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
        ...routerNames('mlp.gate'),
        ...separateExperts('mlp.experts.', expertsOf(c)),
        ...stackedExperts('mlp.experts.gate_up_proj', 'mlp.experts.down_proj'),
      ],
    ),
});

const expertsOf = (c: OlmoeConfig): number => eitherName(c, 'num_experts', 'num_local_experts', 64);
