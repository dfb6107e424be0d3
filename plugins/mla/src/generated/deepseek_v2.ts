/** Generated from deepseek_v2.schema.json by `npm run generate`: change that file. */

/**
 * The keys of a config.json that this family reads. Defaults are those of DeepseekV2Config in transformers 5.24.0.
 */
export interface DeepseekV2Config {
  vocab_size: number;
  hidden_size: number;
  num_hidden_layers: number;
  max_position_embeddings: number;
  num_attention_heads: number;
  /**
   * null: num_attention_heads, which it must be
   */
  num_key_value_heads: number | null;
  /**
   * columns of a query or key head that do not turn
   */
  qk_nope_head_dim: number;
  /**
   * columns of a query or key head that turn
   */
  qk_rope_head_dim: number;
  v_head_dim: number;
  /**
   * columns of the latent that keys and values are made from
   */
  kv_lora_rank: number;
  /**
   * columns of the latent of queries; null: they are made from x
   */
  q_lora_rank: number | null;
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
  /**
   * of the projections to the latents and of the output
   */
  attention_bias: boolean;
  /**
   * columns of an expert
   */
  moe_intermediate_size: number;
  /**
   * experts that a token goes to
   */
  num_experts_per_tok: number;
  /**
   * experts of a layer that are chosen among
   */
  n_routed_experts: number;
  /**
   * experts of a layer that every token goes to
   */
  n_shared_experts: number;
  /**
   * groups of experts
   */
  n_group: number;
  /**
   * groups that a token may go to
   */
  topk_group: number;
  /**
   * layers at the start without experts
   */
  first_k_dense_replace: number;
  moe_layer_freq?: 1;
  /**
   * multiplies the weights of the chosen experts
   */
  routed_scaling_factor: number;
  scoring_func?: 'softmax';
  /**
   * whether experts are chosen within the best groups
   */
  topk_method: 'greedy' | 'group_limited_greedy';
  mlp_bias: boolean;
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
