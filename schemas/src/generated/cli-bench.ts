/** Generated from cli-bench.schema.json by `npm run generate`: change that file. */

/**
 * `kvad bench --json`
 */
export interface CliBench {
  object: 'kvad.bench';
  machine: BenchMachine;
  config: BenchConfig;
  results: BenchVariant[];
  /**
   * empty without --kernels
   */
  kernels: BenchKernel[];
  warnings: string[];
  elapsed_ms: number;
}
export interface BenchMachine {
  cpu: string;
  processors: number;
  /**
   * of the last minute before the run
   */
  load_average: number;
  /**
   * share of all processors that others used just before the run
   */
  busy_before: number;
  /**
   * the same, during the run; null with --beside-busy, where one of the others is our own
   */
  busy_during: number | null;
  /**
   * others used more than a tenth of the processors: the numbers say more of them
   */
  busy: boolean;
  /**
   * a bare read loop, measured between the variants; null: no native arithmetic, or no model measured
   */
  read_gigabytes_per_second: BenchSpread | null;
}
export interface BenchSpread {
  median: number;
  min: number;
  max: number;
}
export interface BenchConfig {
  rounds: number;
  prompt_tokens: number;
  decode_tokens: number;
  depth: number;
  kv_cache_dtype: 'f16' | 'f32';
  batch_size: number;
}
export interface BenchVariant {
  model: string;
  /**
   * f32, bf16, q8, q4; with -dequant the control arm
   */
  variant: string;
  kernels: string;
  threads: number;
  /**
   * of all weights as held
   */
  weight_bytes: number;
  /**
   * read for one decoded token
   */
  weight_bytes_per_token: number;
  load_ms: number;
  /**
   * median of the rounds
   */
  decode_tokens_per_second: number;
  decode_range: BenchSpread;
  /**
   * median of the rounds
   */
  prefill_tokens_per_second: number;
  prefill_range: BenchSpread;
  /**
   * from a prompt of prompt_tokens to its first token
   */
  ttft_ms: number;
  ttft_range: BenchSpread;
  /**
   * read while decoding
   */
  weight_gigabytes_per_second: number;
  /**
   * of the machine's read bandwidth in the same rounds
   */
  bandwidth_share: number | null;
  /**
   * by the median step
   */
  slowest_step: number;
  /**
   * while another process keeps a processor busy
   */
  beside_busy: BesideBusy | null;
}
export interface BesideBusy {
  decode_tokens_per_second: number;
  decode_range: BenchSpread;
  /**
   * of the quiet rate
   */
  share: number;
}
export interface BenchKernel {
  op: 'matrix-vector' | 'batch' | 'attention';
  precision: 'f32' | 'bf16' | 'f16' | 'q8' | 'q4';
  rows: number;
  context: number | null;
  microseconds: BenchSpread;
  gigabytes_per_second: number;
  gigamacs_per_second: number;
  /**
   * largest difference from the reference by its largest value; null: not a number
   */
  error: number | null;
  tolerance: number;
  agrees: boolean;
}
