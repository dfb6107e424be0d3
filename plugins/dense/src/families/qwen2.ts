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
  rms,
  rope,
  ropeOf,
  separateQKV,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { Qwen2Config } from '../generated/qwen2.js';

/**
 * Qwen2: grouped-query attention whose queries, keys and values have a bias and whose output has none; windows only
 * where `use_sliding_window` says so.
 * Source: arXiv:2407.10671, 2412.15115; `modeling_qwen2.py` of transformers.
 */
export const qwen2 = defineFamily<Qwen2Config>({
  modelTypes: ['qwen2'],
  about: 'grouped-query attention with biased queries, keys and values, gated feed-forward',
  reference: 'arXiv:2407.10671, 2412.15115; modeling_qwen2.py',
  config: {
    schema: 'qwen2.schema.json',
    inert: {
      ...dropout('attention_dropout'),
      dual_chunk_attention_config: 'how another program cuts longer sequences than the model was trained on',
      use_mrope: 'only false is accepted: positions are those of a text',
    },
  },

  plan: (c, dims = decoderDims(c), windows = lateWindows(c)) =>
    decoder({
      ...dims.model,
      layer: (i) =>
        pre(rms(c.rms_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: true, o: false }),
            positions: rope('main'),
            mask: causal(windows(i)),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim }) },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: () => withPrefixes(['model.', ''], [...standardDecoder(), ...separateQKV(), ...gateUpDown()]),
});
