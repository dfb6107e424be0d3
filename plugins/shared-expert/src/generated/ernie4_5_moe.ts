/** Generated from ernie4_5_moe.schema.json by `npm run generate`: change that file. */

/**
 * The keys of a config.json that this family reads. Defaults are those of Ernie4_5_MoeConfig in transformers 5.24.0.
 */
export interface Ernie45MoeConfig {
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
  tie_word_embeddings: boolean;
  use_bias: boolean;
  /**
   * columns of an expert
   */
  moe_intermediate_size: number;
  /**
   * experts of a layer
   */
  moe_num_experts?: number;
  /**
   * another name of moe_num_experts
   */
  num_experts?: number;
  /**
   * experts that a token goes to
   */
  moe_k?: number;
  /**
   * another name of moe_k
   */
  num_experts_per_tok?: number;
  /**
   * experts of a layer that every token goes to
   */
  moe_num_shared_experts: number;
  /**
   * first layer that may have experts
   */
  moe_layer_start_index: number;
  /**
   * last layer that may have experts; -1: the last of all
   */
  moe_layer_end_index: number;
  /**
   * every so many layers there is one with experts
   */
  moe_layer_interval: number;
  /**
   * least number that the weights of the chosen experts are divided by
   */
  moe_norm_min: number;
  moe_use_aux_free?: true;
  moe_gate?: 'topk';
  use_rmsnorm?: true;
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
