/** Generated from cli-perplexity.schema.json by `npm run generate`: change that file. */

/**
 * `kvad perplexity --json`. A figure that is not defined is null. Fields named `…_uncertainty` are what follows the ±.
 */
export interface CliPerplexity {
  object: 'kvad.perplexity';
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
   * of the text, a BOS in front included
   */
  tokens: number;
  /**
   * of the ids as little-endian 32-bit integers
   */
  token_ids_sha256: string;
  /**
   * with --token-ids
   */
  token_ids?: number[];
  method: 'chunks' | 'sliding';
  ctx: number;
  /**
   * null: chunks has none
   */
  stride: number | null;
  /**
   * the limit that was asked for; null: none
   */
  chunks: number | null;
  /**
   * id in front of the text and, in chunks, in place of the first id of each window; null: none
   */
  bos: number | null;
  windows_scored: number;
  scored_tokens: number;
  /**
   * nats a scored token
   */
  mean_nll: number | null;
  mean_nll_uncertainty: number | null;
  perplexity: number | null;
  /**
   * standard error of the mean NLL times the perplexity
   */
  perplexity_uncertainty: number | null;
  /**
   * of all windows, those of an interrupted run included
   */
  elapsed_seconds: number;
  prefill_tokens: number;
  prefill_tokens_per_second: number;
  config: PerplexityConfig;
  /**
   * against a base; null: none was given
   */
  kld: PerplexityKld | null;
  /**
   * absent with --no-windows
   */
  windows?: PerplexityWindow[];
  /**
   * what the user was warned of
   */
  warnings: string[];
}
export interface PerplexityConfig {
  /**
   * the processor's name
   */
  cpu: string;
  kernels: string;
  threads: number;
  /**
   * null: as stored
   */
  quant: 'f32' | 'bf16' | 'f16' | 'q8' | 'q4' | null;
  kv_cache_dtype: 'f16' | 'f32';
  /**
   * rows of one forward
   */
  batch_size: number;
  /**
   * rows whose logits are held at once
   */
  head_rows: number;
  /**
   * reference: the slow arithmetic ran because the native one is not there
   */
  fallback: 'reference' | null;
}
export interface PerplexityKld {
  /**
   * file of the base
   */
  base: string;
  /**
   * kvad's own, or llama.cpp's
   */
  base_format: 'topk' | 'full';
  /**
   * ids a token of the base; null: the whole vocabulary
   */
  top_k: number | null;
  /**
   * what the base says of the model that made it; null: llama.cpp's format says nothing
   */
  base_model: PerplexityBaseModel | null;
  tokens: number;
  /**
   * of the compared model, nats
   */
  mean_nll: number | null;
  mean_nll_uncertainty: number | null;
  /**
   * of the base
   */
  base_mean_nll: number | null;
  base_mean_nll_uncertainty: number | null;
  /**
   * of the compared model
   */
  perplexity: number | null;
  perplexity_uncertainty: number | null;
  /**
   * of the base
   */
  base_perplexity: number | null;
  base_perplexity_uncertainty: number | null;
  delta_perplexity: number | null;
  delta_perplexity_uncertainty: number | null;
  perplexity_ratio: number | null;
  perplexity_ratio_uncertainty: number | null;
  /**
   * ln(perplexity / base_perplexity)
   */
  mean_log_ratio: number | null;
  mean_log_ratio_uncertainty: number | null;
  /**
   * of the two models' NLLs
   */
  correlation: number | null;
  /**
   * KL(base ‖ compared) a token, nats
   */
  mean_kld: number | null;
  mean_kld_uncertainty: number | null;
  kld_max: number | null;
  kld_p99_9: number | null;
  kld_p99: number | null;
  kld_p95: number | null;
  kld_p90: number | null;
  kld_median: number | null;
  kld_p10: number | null;
  kld_p5: number | null;
  kld_p1: number | null;
  kld_p0_1: number | null;
  kld_min: number | null;
  /**
   * probability of the token that came: compared minus base
   */
  mean_delta_p: number | null;
  mean_delta_p_uncertainty: number | null;
  delta_p_max: number | null;
  delta_p_p99_9: number | null;
  delta_p_p99: number | null;
  delta_p_p95: number | null;
  delta_p_p90: number | null;
  delta_p_p75: number | null;
  delta_p_median: number | null;
  delta_p_p25: number | null;
  delta_p_p10: number | null;
  delta_p_p5: number | null;
  delta_p_p1: number | null;
  delta_p_p0_1: number | null;
  delta_p_min: number | null;
  rms_delta_p: number | null;
  rms_delta_p_uncertainty: number | null;
  /**
   * share of tokens whose likeliest id is the same
   */
  same_top: number | null;
  same_top_uncertainty: number | null;
  /**
   * probability of the ids that the base names; null: it names all
   */
  mean_base_top_mass: number | null;
}
export interface PerplexityBaseModel {
  model: string;
  fingerprint: string;
  quant: string | null;
  kv_cache_dtype: string;
  kernels: string;
}
export interface PerplexityWindow {
  index: number;
  begin: number;
  end: number;
  first_target: number;
  scored: number;
  nll_sum: number | null;
  mean_nll: number | null;
  perplexity: number | null;
  seconds: number;
}
