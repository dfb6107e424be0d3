import { decoder, decoderDims, defineFamily, routerTraining } from '@kvad/core/plugin';
import { joinedInputs } from '../delta-net-names.js';
import { deltaNetDims } from '../delta-net-words.js';
import { sharedAndRouted, sharedAndRoutedNames } from '../experts.js';
import { HYBRID_INERT, hybridLayers, hybridNames, hybridNorm, hybridRope } from '../gated-hybrid.js';
import type { Qwen3_5MoeTextConfig } from '../generated/qwen3_5_moe.js';
import { imageEncoder, TEXT_PREFIXES, textOfWrapper } from '../wrapper.js';

/**
 * Qwen3.5 with experts in every layer, whose weights always sum to 1; alone, or the text model inside of one that also
 * sees images.
 * Source: arXiv:2412.06464, 2505.06708; `modeling_qwen3_5_moe.py` of transformers.
 */
export const qwen35Moe = defineFamily<Qwen3_5MoeTextConfig>({
  modelTypes: ['qwen3_5_moe', 'qwen3_5_moe_text'],
  about: 'gated delta net and gated attention, three to one, experts beside a gated shared one',
  reference: 'arXiv:2412.06464; modeling_qwen3_5_moe.py',
  config: {
    schema: 'qwen3_5_moe.schema.json',
    inert: {
      ...HYBRID_INERT,
      ...routerTraining,
      intermediate_size: 'every layer has experts',
      mlp_only_layers: 'every layer has experts',
      decoder_sparse_step: 'every layer has experts',
      norm_topk_prob: 'only true is accepted: the weights of experts sum to 1',
    },
    nested: textOfWrapper,
  },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: hybridLayers(c, () => sharedAndRouted(c, { normalised: true })),
      rope: hybridRope(c),
      finalNorm: hybridNorm(c),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: (c) => [
    ...hybridNames(c, TEXT_PREFIXES, [...joinedInputs(deltaNetDims(c)), ...sharedAndRoutedNames(c)]),
    imageEncoder,
  ],
});
