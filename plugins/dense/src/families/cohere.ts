import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  ends,
  gateUpDown,
  layerNorm,
  oneNorm,
  parallel,
  qkLayerNorm,
  qkNorms,
  rope,
  ropeOf,
  separateQKV,
  withPrefixes,
} from '@kvad/core/plugin';
import { COHERE_WORDS } from '../cohere-words.js';
import type { CohereConfig } from '../generated/cohere.js';

/**
 * Cohere (Command R, Aya 23): attention and feed-forward beside each other behind one layer norm without bias,
 * interleaved rotary positions, scaled logits; queries and keys may be normalised, each head with a weight of its own.
 * Source: `modeling_cohere.py` of transformers.
 */
export const cohere = defineFamily<CohereConfig>({
  modelTypes: ['cohere'],
  about: 'grouped-query attention and gated feed-forward in parallel behind one norm',
  reference: 'modeling_cohere.py',
  config: {
    schema: 'cohere.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      ...COHERE_WORDS,
      model_max_length: 'what its tokenizer allows; max_position_embeddings decides',
      pretraining_tp: 'cut matrix products into pieces in training; their sum is the same product',
      rms_norm_eps: 'its norms are layer norms, with layer_norm_eps',
    },
  },

  plan: (c, dims = decoderDims(c), norm = layerNorm(c.layer_norm_eps, { bias: false })) =>
    decoder({
      ...dims.model,
      layer: () =>
        parallel(norm, {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            ...(c.use_qk_norm
              ? { qkNorm: qkLayerNorm({ eps: c.layer_norm_eps, bias: false, scope: 'head-own' }) }
              : {}),
            positions: rope('main', 'interleaved'),
            mask: causal(),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: norm,
      head: { tied: c.tie_word_embeddings, logitScale: c.logit_scale },
    }),

  weights: () =>
    withPrefixes(
      ['model.', ''],
      [...ends(), ...oneNorm('input_layernorm'), ...separateQKV(), ...qkNorms(), ...gateUpDown()],
    ),
});
