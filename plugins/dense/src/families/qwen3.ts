import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  gateUpDown,
  lateWindows,
  pre,
  qkNorms,
  qkRms,
  rms,
  rope,
  ropeOf,
  separateQKV,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { Qwen3Config } from '../generated/qwen3.js';

/**
 * Qwen3: grouped-query attention with RMS-normalised queries and keys, gated feed-forward; windows only where
 * `use_sliding_window` says so.
 * Source: arXiv:2505.09388; `modeling_qwen3.py` of transformers.
 */
export const qwen3 = defineFamily<Qwen3Config>({
  modelTypes: ['qwen3'],
  about: 'grouped-query attention with normalised queries and keys, gated feed-forward',
  reference: 'arXiv:2505.09388; modeling_qwen3.py',
  config: { schema: 'qwen3.schema.json', inert: dropout('attention_dropout') },

  plan: (c, dims = decoderDims(c), windows = lateWindows(c)) =>
    decoder({
      ...dims.model,
      layer: (i) =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.attention_bias, o: c.attention_bias }),
            qkNorm: qkRms({ eps: c.rms_norm_eps }),
            positions: rope('main'),
            mask: causal(windows(i)),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () => withPrefixes(['model.', ''], [...standardDecoder(), ...separateQKV(), ...qkNorms(), ...gateUpDown()]),
});
