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
  norms,
  oneNorm,
  parallel,
  pre,
  qkLayerNorm,
  rope,
  ropeOf,
  separateQKV,
  withPrefixes,
  type SlotRule,
} from '@kvad/core/plugin';
import type { StablelmConfig } from '../generated/stablelm.js';

/**
 * StableLM: grouped-query attention with rotary positions on a quarter of each head, gated feed-forward, layer norms;
 * optionally both beside each other behind one norm, and queries and keys normalised, each head with a weight of its own.
 * Source: arXiv:2402.17834; `modeling_stablelm.py` of transformers.
 */
export const stablelm = defineFamily<StablelmConfig>({
  modelTypes: ['stablelm'],
  about: 'grouped-query attention with partial rotation, gated feed-forward, layer norms',
  reference: 'arXiv:2402.17834; modeling_stablelm.py',
  config: {
    schema: 'stablelm.schema.json',
    inert: {
      ...dropout('attention_dropout', 'hidden_dropout'),
      rms_norm_eps: 'its norms are layer norms, with layer_norm_eps',
    },
  },

  plan: (c, dims = decoderDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        (c.use_parallel_residual ? parallel : pre)(layerNorm(c.layer_norm_eps), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: c.use_qkv_bias, o: false }),
            ...(c.qk_layernorm
              ? { qkNorm: qkLayerNorm({ eps: c.layer_norm_eps, bias: false, scope: 'head-own' }) }
              : {}),
            positions: rope('main'),
            mask: causal(),
          },
          ffn: { kind: 'glu', activation: activationOf(c.hidden_act), size: c.intermediate_size, bias: false },
        }),
      rope: { main: ropeOf(c, { headDim: dims.attention.headDim, partial: true }) },
      finalNorm: layerNorm(c.layer_norm_eps),
      head: { tied: c.tie_word_embeddings },
    }),

  weights: (c, { attention: { heads, kvHeads, headDim } } = decoderDims(c)) =>
    withPrefixes(
      ['model.', ''],
      [
        ...ends(),
        ...(c.use_parallel_residual
          ? oneNorm('input_layernorm')
          : norms({ 'mixer.norm.before': 'input_layernorm', 'ffn.norm.before': 'post_attention_layernorm' })),
        ...separateQKV(),
        normPerHead('mixer.qNorm', 'self_attn.q_layernorm', heads, headDim),
        normPerHead('mixer.kNorm', 'self_attn.k_layernorm', kvHeads, headDim),
        ...gateUpDown(),
      ],
    ),
});

/** Each head's norm is a module of its own: `norms.0.weight`, `norms.1.weight`, … become one weight. */
const normPerHead = (slot: string, module: string, heads: number, headDim: number): SlotRule => ({
  slot: `layers.{layer}.${slot}.weight`,
  sources: [
    {
      tensors: Array.from({ length: heads }, (_, head) => `{prefix}layers.{layer}.${module}.norms.${head}.weight`),
      transform: [
        { op: 'concat', axis: 0 },
        { op: 'reshape', shape: [heads, headDim] },
      ],
    },
  ],
});
