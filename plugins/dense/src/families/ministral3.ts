import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  gateUpDown,
  pre,
  refuseConfig,
  rms,
  rope,
  ropeOf,
  ropeParameter,
  separateQKV,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { Ministral3Config } from '../generated/ministral3.js';

/**
 * Ministral 3: Mistral's layer with yarn, and queries that grow with their position, once in each stretch of the
 * context that the model was first trained for.
 * Source: arXiv:2601.08584; `modeling_ministral3.py` of transformers.
 */
export const ministral3 = defineFamily<Ministral3Config>({
  modelTypes: ['ministral3'],
  about: 'grouped-query attention with queries scaled by position, gated feed-forward',
  reference: 'arXiv:2601.08584; modeling_ministral3.py',
  config: { schema: 'ministral3.schema.json', inert: dropout('attention_dropout') },

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
            queryScale: {
              kind: 'position',
              strength: rotary(c, 'llama_4_scaling_beta'),
              every: rotary(c, 'original_max_position_embeddings'),
            },
            mask: causal(c.sliding_window),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: {
        main: ropeOf(c, {
          headDim: dims.attention.headDim,
          inert: { max_position_embeddings: 'the key of the same name outside decides' },
        }),
      },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () => withPrefixes(['model.', ''], [...standardDecoder(), ...separateQKV(), ...gateUpDown()]),
});

/** Stands among the rotary settings, in the newer dictionary or the older. */
const rotary = (c: Ministral3Config, key: string): number =>
  ropeParameter(c, key) ?? refuseConfig(`rope_parameters.${key}`, null, 'is needed by the scale of the queries');
