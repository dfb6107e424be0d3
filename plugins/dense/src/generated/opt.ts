/** Generated from opt.schema.json by `npm run generate`: change that file. */

/**
 * The keys of a config.json that this family reads. Defaults are those of OPTConfig in transformers 5.24.0.
 */
export interface OptConfig {
  vocab_size: number;
  hidden_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  max_position_embeddings: number;
  ffn_dim: number;
  /**
   * columns of the embedding; null: hidden_size
   */
  word_embed_proj_dim: number | null;
  activation_function: string;
  do_layer_norm_before: boolean;
  _remove_final_layer_norm: boolean;
  layer_norm_elementwise_affine: boolean;
  enable_bias: boolean;
  tie_word_embeddings: boolean;
  learned_embeddings?: true;
  scale_embeddings?: false;
}
