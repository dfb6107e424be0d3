import { decoderDims, type DecoderDims } from '@kvad/core/plugin';

/** Sizes as the configs of GPT-2's line name them. */
interface GptSizeKeys {
  readonly vocab_size: number;
  readonly n_embd: number;
  readonly n_layer: number;
  readonly n_head: number;
  readonly n_positions: number;
}

export const gptDims = (c: GptSizeKeys, kvHeads = c.n_head): DecoderDims =>
  decoderDims({
    vocab_size: c.vocab_size,
    hidden_size: c.n_embd,
    num_hidden_layers: c.n_layer,
    num_attention_heads: c.n_head,
    num_key_value_heads: kvHeads,
    max_position_embeddings: c.n_positions,
  });

/** What the heads of a classifier on top of such a model would use. */
export const summaryKeys = Object.fromEntries(
  ['type', 'use_proj', 'activation', 'proj_to_labels', 'first_dropout'].map((key) => [
    `summary_${key}`,
    'for a classifier on top, which a language model does not have',
  ]),
);
