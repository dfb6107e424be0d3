/** Generated from cli-run.schema.json by `npm run generate`: change that file. */

/**
 * `kvad run --json`
 */
export interface CliRun {
  object: 'kvad.run';
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
  /**
   * what was generated; with --echo the prompt stands before it
   */
  text: string;
  finish_reason: 'stop' | 'stop-string' | 'length' | 'context' | 'aborted';
  prompt_tokens: number;
  reused_tokens: number;
  generated_tokens: number;
  prompt_ids: number[];
  /**
   * the generated tokens
   */
  ids: number[];
  /**
   * only with --logprobs
   */
  tokens?: RunToken[];
  sampling: RunSampling;
  config: RunConfig;
  timings: {
    load_ms: number;
    prefill_ms: number;
    decode_ms: number;
    prefill_tokens_per_second: number;
    decode_tokens_per_second: number;
  };
  /**
   * what the user was warned of
   */
  warnings: string[];
}
export interface RunToken {
  id: number;
  text: string;
  /**
   * a token of the prompt
   */
  echo: boolean;
  /**
   * ln p, before sampling options
   */
  logprob: number | null;
  top: {
    id: number;
    logprob: number;
  }[];
}
export interface RunSampling {
  temperature: number;
  top_k: number;
  top_p: number;
  min_p: number;
  repeat_penalty: number;
  repeat_window: number;
  seed: number;
  max_tokens: number;
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
