/** Generated from ministral3.schema.json by `npm run generate`: change that file. */

/**
 * The keys of a config.json that this family reads. Defaults are those of Ministral3Config in transformers 5.24.0.
 */
export interface Ministral3Config {
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
   * settings of the rotary table and of the scale of queries
   */
  rope_parameters: {
    /**
     * strength of the scale
     */
    llama_4_scaling_beta?: number;
    original_max_position_embeddings?: number;
  };
  tie_word_embeddings: boolean;
  /**
   * keys that a query sees, itself included; null: all
   */
  sliding_window: number | null;
}
