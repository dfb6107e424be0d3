/** Generated from bloom.schema.json by `npm run generate`: change that file. */

/**
 * The keys of a config.json that this family reads. Defaults are those of BloomConfig in transformers 5.24.0.
 */
export interface BloomConfig {
  vocab_size: number;
  /**
   * the name in published files
   */
  n_embed?: number;
  /**
   * 64 if neither name is given
   */
  hidden_size?: number;
  /**
   * 2 if neither name is given
   */
  n_layer?: number;
  num_hidden_layers?: number;
  /**
   * 8 if neither name is given
   */
  n_head?: number;
  num_attention_heads?: number;
  /**
   * positions trained on; ALiBi sets no bound
   */
  seq_length: number;
  layer_norm_epsilon: number;
  tie_word_embeddings: boolean;
  apply_residual_connection_post_layernorm?: false;
}
