/** Generated from gpt_neo.schema.json by `npm run generate`: change that file. */

/**
 * The keys of a config.json that this family reads. Defaults are those of GPTNeoConfig in transformers 5.24.0.
 */
export interface GptNeoConfig {
  vocab_size: number;
  hidden_size: number;
  num_layers: number;
  num_heads: number;
  max_position_embeddings: number;
  /**
   * null: four times hidden_size
   */
  intermediate_size: number | null;
  activation_function: string;
  layer_norm_epsilon: number;
  /**
   * kinds of layers and how often they repeat
   */
  attention_types: (('global' | 'local')[] | number)[][];
  window_size: number;
  tie_word_embeddings: boolean;
}
