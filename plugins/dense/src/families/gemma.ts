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
  separateQKV,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { GemmaConfig } from '../generated/gemma.js';

/**
 * Gemma: Llama's layer with a wide head, GELU (tanh) in the gate, RMS norms of the form (1 + w), and an embedding
 * scaled by the square root of the hidden size.
 * Source: arXiv:2403.08295; `modeling_gemma.py` of transformers.
 */
export const gemma = defineFamily<GemmaConfig>({
  modelTypes: ['gemma'],
  about: 'grouped-query attention, GELU-gated feed-forward, scaled embedding',
  reference: 'arXiv:2403.08295; modeling_gemma.py',
  config: {
    schema: 'gemma.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      use_bidirectional_attention: 'only null and false are accepted: attention is causal',
    },
  },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      embedding: { scale: Math.sqrt(c.hidden_size) },
      layer: () =>
        pre(rms(c.rms_norm_eps, 1), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: {
            kind: 'glu',
            activation: activationOf(activationIn(c)),
            size: c.intermediate_size,
            bias: false,
          },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps, 1),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () => withPrefixes(['model.', ''], [...standardDecoder(), ...separateQKV(), ...gateUpDown()]),
});

/** The first files say `gelu` and mean the tanh form. Files in between name it a second time, for one release to read. */
const activationIn = ({ hidden_act, hidden_activation }: GemmaConfig): string => {
  const name = hidden_act === 'gelu' ? 'gelu_pytorch_tanh' : hidden_act;
  if (hidden_activation !== null && hidden_activation !== name)
    refuseConfig('hidden_activation', hidden_activation, `is not what hidden_act says: ${name}`);
  return name;
};
