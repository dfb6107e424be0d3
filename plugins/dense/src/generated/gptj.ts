/** Generated from gptj.schema.json by `npm run generate`: change that file. */

/**
 * The keys of a config.json that this family reads. Defaults are those of GPTJConfig in transformers 5.24.0.
 */
export interface GptjConfig {
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
  /**
   * columns of a head that turn
   */
  rotary_dim: number;
  rotary?: true;
  scale_attn_weights?: true;
}
