import {
  activationOf,
  biases,
  causal,
  decoder,
  defineFamily,
  dropout,
  ends,
  inLayer,
  layerNorm,
  oneNorm,
  parallel,
  rope,
  unneeded,
  upDown,
  withPrefixes,
  type SlotRule,
} from '@kvad/core/plugin';
import { gptDims, summaryKeys } from '../gpt-dims.js';
import type { CodegenConfig } from '../generated/codegen.js';

/**
 * CodeGen: GPT-J's layer; queries, values and keys lie in one tensor, in the four pieces in which they were trained.
 * Source: arXiv:2203.13474; `modeling_codegen.py` of transformers.
 */
export const codegen = defineFamily<CodegenConfig>({
  modelTypes: ['codegen'],
  about: 'multi-head attention and two-matrix feed-forward in parallel behind one norm',
  reference: 'arXiv:2203.13474; modeling_codegen.py',
  config: {
    schema: 'codegen.schema.json',
    inert: {
      ...dropout('attn_pdrop', 'embd_pdrop', 'resid_pdrop'),
      ...summaryKeys,
      n_ctx: 'an older name of n_positions, which decides',
      scale_attn_weights: 'only true is accepted: scores are scaled',
    },
  },

  plan: (c, dims = gptDims(c)) =>
    decoder({
      ...dims.model,
      layer: () =>
        parallel(layerNorm(c.layer_norm_epsilon), {
          mixer: {
            kind: 'attention',
            ...dims.attention,
            bias: biases({ qkv: false, o: false }),
            positions: rope('main', 'interleaved'),
            mask: causal(),
          },
          ffn: {
            kind: 'mlp',
            activation: activationOf(c.activation_function, 'activation_function'),
            size: c.n_inner ?? 4 * c.n_embd,
            bias: true,
          },
        }),
      rope: { main: { type: 'default', theta: 10_000, dims: c.rotary_dim } },
      finalNorm: layerNorm(c.layer_norm_epsilon),
      head: { tied: c.tie_word_embeddings, bias: true },
    }),

  weights: (c, stored = { layers: '{prefix}h.{layer}.' }) =>
    withPrefixes(
      ['transformer.', ''],
      [
        ...ends({ embedding: 'wte', norm: 'ln_f' }),
        ...oneNorm('ln_1', stored.layers),
        ...piecesOf('attn.qkv_proj', c.n_embd, stored),
        ...inLayer('mixer.o', 'attn.out_proj', stored),
        ...upDown('mlp.fc_in', 'mlp.fc_out', stored),
        unneeded('{prefix}h.{layer}.attn.causal_mask', 'the causal mask, which is computed'),
      ],
    ),
});

const PIECES = 4;

/** In each piece: its queries, its values, its keys. */
const piecesOf = (module: string, columns: number, stored: { layers: string }): SlotRule[] =>
  ['q', 'v', 'k'].flatMap((part, index) =>
    inLayer(`mixer.${part}`, module, stored, {
      op: 'perGroup',
      groups: PIECES,
      size: (3 * columns) / PIECES,
      start: (index * columns) / PIECES,
      count: columns / PIECES,
    }),
  );
