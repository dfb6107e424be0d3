import {
  activationOf,
  biases,
  causal,
  decoder,
  decoderDims,
  defineFamily,
  dropout,
  fusedGateUp,
  fusedQKV,
  inLayer,
  pre,
  rms,
  rope,
  ropeOf,
  standardDecoder,
  withPrefixes,
} from '@kvad/core/plugin';
import type { Phi3Config } from '../generated/phi3.js';

/**
 * Phi-3 and Phi-4: Llama's layer with fused projections, a partial rotary table that may be a longrope, and a window
 * on all layers where one is set.
 * Source: arXiv:2404.14219, 2412.08905; `modeling_phi3.py` of transformers.
 */
export const phi3 = defineFamily<Phi3Config>({
  modelTypes: ['phi3'],
  about: 'grouped-query attention, gated feed-forward, fused projections, longrope',
  reference: 'arXiv:2404.14219, 2412.08905; modeling_phi3.py',
  config: {
    schema: 'phi3.schema.json',
    inert: {
      ...dropout('attention_dropout', 'embd_pdrop', 'resid_pdrop'),
      attention_bias: 'only false is accepted: projections have no bias',
      full_attn_mod: 'only 1 is accepted: every layer is like the others',
      interpolate_factor: 'only 1 is accepted: the rotary table has its own factors',
      lm_head_bias: 'only false is accepted: the head has no bias',
      mlp_bias: 'only false is accepted: projections have no bias',
    },
  },

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
            mask: causal(c.sliding_window),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: {
        main: ropeOf(c, {
          headDim: dims.attention.headDim,
          partial: true,
          types: ['default', 'longrope'],
          aliases: { su: 'longrope', yarn: 'longrope' },
        }),
      },
      finalNorm: rms(c.rms_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: (c, dims = decoderDims(c)) =>
    withPrefixes(
      ['model.', ''],
      [
        ...standardDecoder(),
        ...fusedQKV('self_attn.qkv_proj', dims.attention),
        ...inLayer('mixer.o', 'self_attn.o_proj'),
        ...fusedGateUp(),
      ],
    ),
});
