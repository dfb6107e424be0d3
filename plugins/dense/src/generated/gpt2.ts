/** Generated from gpt2.schema.json by `npm run generate`: change that file. */

/**
 * The keys of a config.json that this family reads. Defaults are those of GPT2Config in transformers 5.24.0.
 */
export interface Gpt2Config {
  vocab_size: number;
  n_embd: number;
  n_layer: number;
  n_head: number;
  n_positions: number;
  /**
   * null: four times n_embd
   */
  n_inner: number | null;
  activation_function: string;
  layer_norm_epsilon: number;
  tie_word_embeddings: boolean;
  scale_attn_weights: boolean;
  scale_attn_by_inverse_layer_idx: boolean;
}
