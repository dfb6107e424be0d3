/** Generated from cli-logits.schema.json by `npm run generate`: change that file. */

/**
 * `kvad logits --json`
 */
export interface CliLogits {
  object: 'kvad.logits';
  /**
   * owner/name[@revision] as it was given, or the folder
   */
  model: string;
  /**
   * folder of the checkpoint
   */
  folder: string;
  family: string;
  model_type: string;
  tokens: number;
  vocab_size: number;
  file: string;
  config: RunConfig;
  elapsed_ms: number;
  /**
   * what the user was warned of
   */
  warnings: string[];
}
export interface RunConfig {
  /**
   * null: as stored
   */
  quant: 'f32' | 'bf16' | 'f16' | 'q8' | 'q4' | null;
  kv_cache_dtype: 'f16' | 'f32';
  kernels: string;
  threads: number;
  batch_size: number;
}
