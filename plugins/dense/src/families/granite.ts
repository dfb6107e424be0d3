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
  rms,
  rope,
  ropeOf,
  separateQKV,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { GraniteConfig } from '../generated/granite.js';

/**
 * Granite: Llama's layer with four multipliers: of the embedding, of the scores, of what each op adds, and of the
 * logits, which are divided.
 * Source: arXiv:2408.13359 (the scaling behind them); `modeling_granite.py` of transformers.
 */
export const granite = defineFamily<GraniteConfig>({
  modelTypes: ['granite'],
  about: 'grouped-query attention, gated feed-forward, scaled embedding, residual and logits',
  reference: 'arXiv:2408.13359; modeling_granite.py',
  config: { schema: 'granite.schema.json', inert: dropout('attention_dropout') },

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
            ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: c.mlp_bias },
          },
          c.residual_multiplier,
        ),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings, logitScale: 1 / c.logits_scaling },
    }),

  weights: () => withPrefixes(['model.', ''], [...standardDecoder(), ...separateQKV(), ...gateUpDown()]),
});
