import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  ends,
  pre,
  qkRms,
  rms,
  rope,
  ropeOf,
  separateQKV,
  upDown,
  withPrefixes,
} from '@kvad/core/plugin';
import type { NanochatConfig } from '../generated/nanochat.js';

/**
 * nanochat: weightless RMS norms everywhere, also behind the embedding and on queries and keys after their rotation,
 * which goes backwards; squared ReLU, a softcap on the logits.
 * Source: github.com/karpathy/nanochat; `modeling_nanochat.py` of transformers.
 */
export const nanochat = defineFamily<NanochatConfig>({
  modelTypes: ['nanochat'],
  about: 'grouped-query attention, two-matrix feed-forward with squared ReLU, norms without weights',
  reference: 'github.com/karpathy/nanochat; modeling_nanochat.py',
  config: { schema: 'nanochat.schema.json', inert: dropout('attention_dropout') },

  plan: (c, dims = decoderDims(c), norm = { ...rms(c.rms_norm_eps), weight: false }) =>
    decoder({
      ...dims.model,
      embedding: { norm },
      layer: () =>
        pre(norm, {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            qkNorm: qkRms({ eps: c.rms_norm_eps, weight: false, when: 'after-rope' }),
            positions: { ...rope('main'), direction: 'backward' },
            mask: causal(),
          },
          ffn: { kind: 'mlp', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: norm,
      head: { tied: c.tie_word_embeddings, softcap: c.final_logit_softcapping },
    }),

  weights: () => withPrefixes(['model.', ''], [...ends(), ...separateQKV(), ...upDown('mlp.fc1', 'mlp.fc2')]),
});
