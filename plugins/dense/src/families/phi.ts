import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  ends,
  layerNorm,
  oneNorm,
  parallel,
  qkLayerNorm,
  qkNorms,
  rope,
  ropeOf,
  separateQKV,
  upDown,
  withPrefixes,
} from '@kvad/core/plugin';
import type { PhiConfig } from '../generated/phi.js';

/**
 * Phi (1, 1.5, 2): attention and a two-matrix feed-forward beside each other behind one layer norm, biases throughout,
 * rotary positions on half of each head, and a head with a bias.
 * Source: arXiv:2306.11644, 2309.05463; `modeling_phi.py` of transformers.
 */
export const phi = defineFamily<PhiConfig>({
  modelTypes: ['phi'],
  about: 'attention and two-matrix feed-forward in parallel behind one norm, biases',
  reference: 'arXiv:2306.11644, 2309.05463; modeling_phi.py',
  config: {
    schema: 'phi.schema.json',
    inert: {
      ...dropout('attention_dropout', 'embd_pdrop', 'resid_pdrop'),
      attention_bias: 'projections always have a bias',
      rms_norm_eps: 'its norms are layer norms, with layer_norm_eps',
      rotary_dim: 'an older form of partial_rotary_factor, which decides',
    },
  },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        parallel(layerNorm(c.layer_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: true, o: true }),
            ...(c.qk_layernorm ? { qkNorm: qkLayerNorm({ eps: c.layer_norm_eps }) } : {}),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: { kind: 'mlp', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: true },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim, partial: true }) },
      finalNorm: layerNorm(c.layer_norm_eps),
      head: { tied: c.tie_word_embeddings, bias: true },
    }),

  weights: () =>
    withPrefixes(
      ['model.', ''],
      [
        ...ends({ norm: 'final_layernorm' }),
        ...oneNorm('input_layernorm'),
        ...separateQKV('self_attn.', 'dense'),
        ...qkNorms('self_attn.', { q: 'q_layernorm', k: 'k_layernorm' }),
        ...upDown('mlp.fc1', 'mlp.fc2'),
      ],
    ),
});
