/** Generated from falcon.schema.json by `npm run generate`: change that file. */

/**
 * The keys of a config.json that this family reads. Defaults are those of FalconConfig in transformers 5.24.0.
 */
export interface FalconConfig {
  vocab_size: number;
  hidden_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  max_position_embeddings: number;
  /**
   * in the new architecture; null: as many as queries
   */
  num_kv_heads: number | null;
  /**
   * null: four times hidden_size
   */
  ffn_hidden_size: number | null;
  activation: string;
  layer_norm_epsilon: number;
  /**
   * base of the rotary frequencies
   */
  rope_theta: number;
  /**
   * rotary settings; null: none
   */
  rope_parameters?: RopeSettings | null;
  /**
   * rotary settings by their older name; null: none
   */
  rope_scaling?: RopeSettings | null;
  new_decoder_architecture: boolean;
  multi_query: boolean;
  parallel_attn: boolean;
  /**
   * in the new architecture; null: 2
   */
  num_ln_in_parallel_attn: 1 | 2 | null;
  bias: boolean;
  alibi?: false;
  tie_word_embeddings: boolean;
  ff_factor?: 4;
}
/**
 * Settings of one rotary table, or a table for each type of layer by its name.
 */
export interface RopeSettings {
  rope_type?: string;
  type?: string;
  rope_theta?: number;
  partial_rotary_factor?: number;
  factor?: number;
  original_max_position_embeddings?: number;
  attention_factor?: number;
  beta_fast?: number;
  beta_slow?: number;
  mscale?: number;
  mscale_all_dim?: number;
  truncate?: boolean;
  short_factor?: number[];
  long_factor?: number[];
  low_freq_factor?: number;
  high_freq_factor?: number;
}
