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
  ends,
  moe,
  post,
  postNorms,
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
  withPrefixes,
} from '@kvad/core/plugin';
import type { FlexOlmoConfig } from '../generated/flex_olmo.js';

/**
 * FlexOlmo: OLMo 2's layer, norms after each op, with experts in place of the dense feed-forward.
 * Source: arXiv:2507.07024; `modeling_flex_olmo.py` of transformers.
 */
export const flexOlmo = defineFamily<FlexOlmoConfig>({
  modelTypes: ['flex_olmo'],
  about: 'grouped-query attention with whole-projection norms, experts chosen by a softmax, norms after each op',
  reference: 'arXiv:2507.07024; modeling_flex_olmo.py',
  config: { schema: 'flex_olmo.schema.json', inert: { ...dropout('attention_dropout'), ...routerTraining } },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        post(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            qkNorm: qkRms({ eps: c.rms_norm_eps, scope: 'full' }),
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
        ...ends(),
        ...postNorms(),
        ...separateQKV(),
        ...qkNorms(),
        ...routerNames('mlp.gate'),
        ...separateExperts('mlp.experts.', expertsOf(c)),
        ...stackedExperts('mlp.experts.gate_up_proj', 'mlp.experts.down_proj'),
      ],
    ),
});

const expertsOf = (c: FlexOlmoConfig): number => eitherName(c, 'num_experts', 'num_local_experts', 7);
