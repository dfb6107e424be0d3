/** Generated from qwen3_next.schema.json by `npm run generate`: change that file. */

/**
 * The keys of a config.json that this family reads. Defaults are those of Qwen3NextConfig in transformers 5.24.0.
 */
export interface Qwen3NextConfig {
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
  /**
   * columns of the layers without experts
   */
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
  /**
   * share of a head's columns that is rotated
   */
  partial_rotary_factor: number;
  tie_word_embeddings: boolean;
  attention_bias: boolean;
  /**
   * mixer of each layer; null: as the other keys say
   */
  layer_types: ('full_attention' | 'linear_attention')[] | null;
  /**
   * without layer_types: one of so many layers is full attention
   */
  full_attention_interval: number;
  linear_num_key_heads: number;
  linear_num_value_heads: number;
  linear_key_head_dim: number;
  linear_value_head_dim: number;
  /**
   * tokens that the convolution sees, the present one included
   */
  linear_conv_kernel_dim: number;
  /**
   * 0: no layer has experts
   */
  num_experts: number;
  num_experts_per_tok: number;
  moe_intermediate_size: number;
  shared_expert_intermediate_size: number;
  norm_topk_prob: boolean;
  /**
   * one of so many layers has experts
   */
  decoder_sparse_step: number;
  /**
   * layers without experts
   */
  mlp_only_layers: number[];
  /**
   * the published attention always has its gate
   */
  attn_output_gate?: true;
  /**
   * the published gate of the linear layers is silu
   */
  output_gate_type?: 'swish' | 'silu';
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
