import {
  activationOf,
  decoder,
  decoderDims,
  defineFamily,
  everyLayer,
  gateUpDown,
  routerTraining,
} from '@kvad/core/plugin';
import { groupedInputs } from '../delta-net-names.js';
import { deltaNetDims } from '../delta-net-words.js';
import { KEYS_OF_EXPERTS, sharedAndRouted, sharedAndRoutedNames } from '../experts.js';
import { HYBRID_INERT, hybridLayers, hybridNames, hybridNorm, hybridRope } from '../gated-hybrid.js';
import type { Qwen3NextConfig } from '../generated/qwen3_next.js';

/**
 * Qwen3-Next: three layers of gated delta net to one of gated attention, experts beside a gated shared one; the inputs
 * of the delta net are stored in one tensor, key head by key head.
 * Source: arXiv:2412.06464, 2505.06708; `modeling_qwen3_next.py` of transformers.
 */
export const qwen3Next = defineFamily<Qwen3NextConfig>({
  modelTypes: ['qwen3_next'],
  about: 'gated delta net and gated attention, three to one, experts beside a gated shared one',
  reference: 'arXiv:2412.06464; modeling_qwen3_next.py',
  config: {
    schema: 'qwen3_next.schema.json',
    inert: {
      ...HYBRID_INERT,
      ...routerTraining,
      ...KEYS_OF_EXPERTS,
      intermediate_size: 'only layers without experts use it',
    },
  },

  plan: (c, dims = decoderDims(c), hasExperts = layersWithExperts(c)) =>
    decoder({
      ...dims.model,
      layer: hybridLayers(c, (i) =>
        hasExperts(i)
          ? sharedAndRouted(c, { normalised: c.norm_topk_prob })
          : { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
      ),
      rope: hybridRope(c),
      finalNorm: hybridNorm(c),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: (c) =>
    hybridNames(c, ['model.', ''], [...groupedInputs(deltaNetDims(c)), ...gateUpDown(), ...sharedAndRoutedNames(c)]),
});

const layersWithExperts = (c: Qwen3NextConfig) =>
  c.num_experts === 0 ? () => false : everyLayer(c.decoder_sparse_step, c.mlp_only_layers);
