import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  ends,
  from,
  layerNorm,
  maskBuffers,
  noPositions,
  norms,
  pre,
  refuseConfig,
  separateQKV,
  upDown,
  withPrefixes,
} from '@kvad/core/plugin';
import { summaryKeys } from '../gpt-dims.js';
import type { GptNeoConfig } from '../generated/gpt_neo.js';

/**
 * GPT-Neo: multi-head attention whose scores are not scaled, every second layer with a window; two-matrix feed-forward,
 * learned positions.
 * Source: github.com/EleutherAI/gpt-neo; `modeling_gpt_neo.py` of transformers.
 */
export const gptNeo = defineFamily<GptNeoConfig>({
  modelTypes: ['gpt_neo'],
  about: 'multi-head attention with unscaled scores and windows, two-matrix feed-forward, learned positions',
  reference: 'github.com/EleutherAI/gpt-neo; modeling_gpt_neo.py',
  config: {
    schema: 'gpt_neo.schema.json',
    inert: {
      ...dropout('attention_dropout', 'classifier_dropout', 'embed_dropout', 'resid_dropout'),
      ...summaryKeys,
      attention_layers: 'written out from attention_types, which decides',
    },
  },

  plan: (c, dims = dimsOf(c), windows = windowsOf(c)) =>
    decoder({
      ...dims.model,
      embedding: { positions: { kind: 'learned', count: c.max_position_embeddings, offset: 0 } },
      layer: (i) =>
        pre(layerNorm(c.layer_norm_epsilon), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            scale: 1,
            bias: biases({ qkv: false, o: true }),
            positions: noPositions,
            mask: causal(windows[i]),
          },
          ffn: {
            kind: 'mlp',
            activation: activationOf(c.activation_function, 'activation_function'),
            size: c.intermediate_size ?? 4 * c.hidden_size,
            bias: true,
          },
        }),
      finalNorm: layerNorm(c.layer_norm_epsilon),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: (_, stored = { layers: '{prefix}h.{layer}.' }) =>
    withPrefixes(
      ['transformer.', ''],
      [
        ...ends({ embedding: 'wte', norm: 'ln_f' }),
        from('embedding.positions.weight', '{prefix}wpe.weight'),
        ...norms({ 'mixer.norm.before': 'ln_1', 'ffn.norm.before': 'ln_2' }, stored.layers),
        ...separateQKV('attn.attention.', 'out_proj', stored),
        ...upDown('mlp.c_fc', 'mlp.c_proj', stored),
        ...maskBuffers('h.{layer}.attn.attention.'),
      ],
    ),
});

const dimsOf = (c: GptNeoConfig) =>
  decoderDims({
    vocab_size: c.vocab_size,
    hidden_size: c.hidden_size,
    num_hidden_layers: c.num_layers,
    num_attention_heads: c.num_heads,
    max_position_embeddings: c.max_position_embeddings,
  });

/** `[[['global', 'local'], 12]]`: these kinds, that many times. */
const windowsOf = ({ attention_types: types, window_size: window, num_layers: layers }: GptNeoConfig) => {
  const kinds = types.flatMap(({ 0: kinds, 1: times }) =>
    Array.isArray(kinds) && typeof times === 'number'
      ? Array.from({ length: times }, () => kinds).flat()
      : refuseConfig('attention_types', types, 'is not a list of kinds and how often they repeat'),
  );
  if (kinds.length !== layers) refuseConfig('attention_types', types, `does not name each of the ${layers} layers`);
  return kinds.map((kind) => (kind === 'local' ? window : null));
};
