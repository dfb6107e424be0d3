/** Generated from gemma.schema.json by `npm run generate`: change that file. */

/**
 * The keys of a config.json that this family reads. Defaults are those of GemmaConfig in transformers 5.24.0.
 */
export interface GemmaConfig {
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
  /**
   * hidden_act once more; null: it is not there
   */
  hidden_activation: string | null;
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
  attention_bias: boolean;
  use_bidirectional_attention?: null | false;
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
