/** Generated from olmo_hybrid.schema.json by `npm run generate`: change that file. */

/**
 * The keys of a config.json that this family reads. Defaults are those of OlmoHybridConfig in transformers 5.24.0.
 */
export interface OlmoHybridConfig {
  vocab_size: number;
  hidden_size: number;
  num_hidden_layers: number;
  max_position_embeddings: number;
  num_attention_heads: number;
  /**
   * keys and values; null: one head a query head
   */
  num_key_value_heads: number | null;
  /**
   * null: hidden_size / num_attention_heads
   */
  head_dim: number | null;
  intermediate_size: number;
  hidden_act: string;
  rms_norm_eps: number;
  /**
   * base of the rotary frequencies; null: no positions
   */
  rope_theta?: number | null;
  /**
   * rotary settings
   */
  rope_parameters?: {
    /**
     * base of the rotary frequencies; null: no positions
     */
    rope_theta?: number | null;
  } | null;
  /**
   * rotary settings by their older name; null: none
   */
  rope_scaling?: RopeSettings | null;
  tie_word_embeddings: boolean;
  attention_bias: boolean;
  /**
   * mixer of each layer; null: as the other keys say
   */
  layer_types: ('full_attention' | 'linear_attention')[] | null;
  /**
   * null: num_attention_heads
   */
  linear_num_key_heads: number | null;
  /**
   * null: num_attention_heads
   */
  linear_num_value_heads: number | null;
  /**
   * null: 3/4 of hidden_size / linear_num_key_heads
   */
  linear_key_head_dim: number | null;
  /**
   * null: twice linear_key_head_dim
   */
  linear_value_head_dim: number | null;
  /**
   * tokens that the convolution sees, the present one included
   */
  linear_conv_kernel_dim: number;
  linear_allow_neg_eigval: boolean;
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
