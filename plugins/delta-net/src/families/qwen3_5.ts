import { activationOf, decoder, decoderDims, defineFamily, gateUpDown } from '@kvad/core/plugin';
import { joinedInputs } from '../delta-net-names.js';
import { deltaNetDims } from '../delta-net-words.js';
import { HYBRID_INERT, hybridLayers, hybridNames, hybridNorm, hybridRope } from '../gated-hybrid.js';
import type { Qwen3_5TextConfig } from '../generated/qwen3_5.js';
import { imageEncoder, TEXT_PREFIXES, textOfWrapper } from '../wrapper.js';

/**
 * Qwen3.5: three layers of gated delta net to one of gated attention, dense feed-forward; alone, or the text model
 * inside of one that also sees images.
 * Source: arXiv:2412.06464, 2505.06708; `modeling_qwen3_5.py` of transformers.
 */
export const qwen35 = defineFamily<Qwen3_5TextConfig>({
  modelTypes: ['qwen3_5', 'qwen3_5_text'],
  about: 'gated delta net and gated attention, three to one, dense feed-forward',
  reference: 'arXiv:2412.06464; modeling_qwen3_5.py',
  config: {
    schema: 'qwen3_5.schema.json',
    inert: { ...HYBRID_INERT, mlp_only_layers: 'no layer has experts' },
    nested: textOfWrapper,
  },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: hybridLayers(c, () => ({
        kind: 'glu',
        activation: activationOf(c.hidden_act),
        size: c.intermediate_size,
        bias: false,
      })),
      rope: hybridRope(c),
      finalNorm: hybridNorm(c),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: (c) => [...hybridNames(c, TEXT_PREFIXES, [...joinedInputs(deltaNetDims(c)), ...gateUpDown()]), imageEncoder],
});
