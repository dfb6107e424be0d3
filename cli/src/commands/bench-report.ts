import type { BenchResult, KernelResult, Spread } from '@kvad/core';
import type { BenchKernel, BenchSpread, BenchVariant } from '@kvad/schemas';

/** What was measured, as `schemas/json/cli-bench.schema.json` says it. */
export const variantObject = (result: BenchResult): BenchVariant => ({
  model: result.model,
  variant: result.variant,
  kernels: result.kernels,
  threads: result.threads,
  weight_bytes: result.weightBytes,
  weight_bytes_per_token: result.weightBytesPerToken,
  load_ms: result.loadMilliseconds,
  decode_tokens_per_second: result.decodeTokensPerSecond.median,
  decode_range: spreadOf(result.decodeTokensPerSecond),
  prefill_tokens_per_second: result.prefillTokensPerSecond.median,
  prefill_range: spreadOf(result.prefillTokensPerSecond),
  ttft_ms: result.ttftMilliseconds.median,
  ttft_range: spreadOf(result.ttftMilliseconds),
  weight_gigabytes_per_second: result.weightBandwidth / 1e9,
  bandwidth_share: result.bandwidthShare,
  slowest_step: result.slowestStep,
  beside_busy: result.besideBusy && {
    decode_tokens_per_second: result.besideBusy.median,
    decode_range: spreadOf(result.besideBusy),
    share: result.besideBusy.median / result.decodeTokensPerSecond.median,
  },
});

export const kernelObject = (result: KernelResult): BenchKernel => ({
  op: result.op,
  precision: result.precision,
  rows: result.rows,
  context: result.context,
  microseconds: spreadOf(result.microseconds),
  gigabytes_per_second: result.bytesPerSecond / 1e9,
  gigamacs_per_second: result.multiplyAddsPerSecond / 1e9,
  error: Number.isNaN(result.error) ? null : result.error,
  tolerance: result.tolerance,
  agrees: result.error <= result.tolerance,
});

export const spreadOf = ({ median, min, max }: Spread, factor = 1): BenchSpread => ({
  median: median * factor,
  min: min * factor,
  max: max * factor,
});
