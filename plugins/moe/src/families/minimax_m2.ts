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
  qkNorms,
  qkRms,
  rms,
  rope,
  ropeOf,
  routerNames,
  routerTraining,
  selectionBias,
  separateExperts,
  separateQKV,
  sigmoidRouter,
  stackedExperts,
  standardDecoder,
  W123,
  withPrefixes,
} from '@kvad/core/plugin';
import type { MiniMaxM2Config } from '../generated/minimax_m2.js';

/**
 * MiniMax-M2: queries and keys normalised over their whole projection and rotated in part; experts scored by sigmoids
 * in every layer.
 * Source: `modeling_minimax_m2.py` of transformers.
 */
export const minimaxM2 = defineFamily<MiniMaxM2Config>({
  modelTypes: ['minimax_m2'],
  about: 'grouped-query attention with whole-projection norms and partial rotation, experts chosen by sigmoids',
  reference: 'modeling_minimax_m2.py',
  config: {
    schema: 'minimax_m2.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      ...routerTraining,
      attn_type_list: 'only 1 is accepted: softmax attention in every layer',
      mtp_transformer_layers: 'layers that predict further tokens are not run',
      num_mtp_modules: 'layers that predict further tokens are not run',
      qk_norm_type: 'only per_layer is accepted: norms over the whole projection',
      scoring_func: 'only sigmoid is accepted',
      shared_intermediate_size: 'only 0 is accepted: there is no shared expert',
      use_mtp: 'layers that predict further tokens are not run',
      use_qk_norm: 'only true is accepted',
      use_routing_bias: 'only true is accepted',
    },
  },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: false, o: false }),
            qkNorm: qkRms({ eps: c.rms_norm_eps, scope: 'full' }),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: moe({
            experts: expertsOf(c),
            perToken: c.num_experts_per_tok,
            size: c.intermediate_size,
            gating: activated(activationOf(c.hidden_act)),
            router: sigmoidRouter({ normalise: bySum() }),
          }),
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim, partial: rotatedShare(c, dims.attention.headDim) }) },
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
        ...['block_sparse_moe.', 'mlp.'].flatMap((module) => [
          ...routerNames(`${module}gate`),
          selectionBias(`${module}e_score_correction_bias`),
          ...separateExperts(`${module}experts.`, expertsOf(c), W123),
          ...stackedExperts(`${module}experts.gate_up_proj`, `${module}experts.down_proj`),
        ]),
      ],
    ),
});

const expertsOf = (c: MiniMaxM2Config): number => eitherName(c, 'num_local_experts', 'num_experts', 256);

/** What `rotary_dim` says; `partial_rotary_factor` decides where it is given. */
const rotatedShare = ({ rotary_dim: dims }: MiniMaxM2Config, headDim: number): number | true =>
  dims === undefined ? true : dims / headDim;
