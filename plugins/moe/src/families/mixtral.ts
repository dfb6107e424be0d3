import {
  activated,
  activationOf,
  biases,
  bySum,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  eitherName,
  moe,
  pre,
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
  W123,
  withPrefixes,
} from '@kvad/core/plugin';
import type { MixtralConfig } from '../generated/mixtral.js';

/**
 * Mixtral: Mistral's attention, and experts in every layer, whose weights always sum to 1.
 * Source: arXiv:2401.04088; `modeling_mixtral.py` of transformers.
 */
export const mixtral = defineFamily<MixtralConfig>({
  modelTypes: ['mixtral'],
  about: 'grouped-query attention, experts chosen by a softmax',
  reference: 'arXiv:2401.04088; modeling_mixtral.py',
  config: { schema: 'mixtral.schema.json', inert: { ...dropout('attention_dropout'), ...routerTraining } },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: false, o: false }),
            positions: rope('main'),
            mask: causal(c.sliding_window),
          },
          ffn: moe({
            experts: expertsOf(c),
            perToken: c.num_experts_per_tok,
            size: c.intermediate_size,
            gating: activated(activationOf(c.hidden_act)),
            router: softmaxRouter({ normalise: bySum() }),
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
        ...['block_sparse_moe.', 'mlp.'].flatMap((module) => [
          ...routerNames(`${module}gate`),
          ...separateExperts(`${module}experts.`, expertsOf(c), W123),
          ...stackedExperts(`${module}experts.gate_up_proj`, `${module}experts.down_proj`),
        ]),
      ],
    ),
});

const expertsOf = (c: MixtralConfig): number => eitherName(c, 'num_local_experts', 'num_experts', 8);
