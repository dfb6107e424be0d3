/** Generated from mpt.schema.json by `npm run generate`: change that file. */

/**
 * The keys of a config.json that this family reads. Defaults are those of MptConfig in transformers 5.24.0.
 */
export interface MptConfig {
  vocab_size: number;
  d_model: number;
  n_layers: number;
  n_heads: number;
  max_seq_len: number;
  expansion_ratio?: 4;
  layer_norm_epsilon: number;
  /**
   * settings of attention
   */
  attn_config: {
    alibi: true;
    alibi_bias_max?: 8;
    /**
     * null: no limit
     */
    clip_qkv: number | null;
    /**
     * null: head width to the power -1/2
     */
    softmax_scale: number | null;
    attn_type?: 'multihead_attention';
    attn_uses_sequence_id?: false;
    is_encoder_decoder?: false;
    prefix_lm?: false;
    qk_ln?: false;
  };
  no_bias?: true;
  logit_scale?: null;
  norm_type?: 'low_precision_layernorm';
  tie_word_embeddings: boolean;
}
