import type { BenchKernel, BenchSpread, BenchVariant, CliBench } from '@kvad/schemas';
import { formatBytes } from '../io/quantities.js';
import { textTable } from '../io/text-table.js';

/** What `kvad bench` prints for people. */
export const benchPage = ({ machine, config, results, kernels }: CliBench): string => {
  const { cpu, processors, load_average, read_gigabytes_per_second: read } = machine;
  const first = `${cpu}, ${processors} processors, load ${load_average.toFixed(2)}`;
  const lines = [read === null ? first : `${first}; reads memory at ${range(read, 1)} GB/s`];
  if (results.length > 0) {
    const { rounds, prompt_tokens, decode_tokens, depth } = config;
    lines.push(`${rounds} rounds; prompts of ${prompt_tokens} tokens; ${decode_tokens} decoded after ${depth}`);
    lines.push('', textTable([variantHead(results), ...results.map(variantRow)]));
  }
  if (kernels.length > 0) lines.push('', textTable([KERNEL_HEAD, ...kernels.map(kernelRow)]));
  return lines.join('\n');
};

const variantHead = (results: readonly BenchVariant[]): string[] => {
  const head = ['MODEL', 'VARIANT', 'KERNELS', 'WEIGHTS', 'DECODE tok/s', 'OF READ', 'PREFILL tok/s', 'TTFT ms'];
  return results.some(({ beside_busy }) => beside_busy !== null) ? [...head, 'BESIDE BUSY tok/s'] : head;
};

const variantRow = (result: BenchVariant): string[] => [
  result.model,
  result.variant,
  `${result.kernels} x${result.threads}`,
  formatBytes(result.weight_bytes),
  range(result.decode_range, 1),
  result.bandwidth_share === null ? '' : `${Math.round(100 * result.bandwidth_share)} %`,
  range(result.prefill_range, 0),
  range(result.ttft_range, 0),
  ...(result.beside_busy === null
    ? []
    : [`${range(result.beside_busy.decode_range, 1)}, ${Math.round(100 * result.beside_busy.share)} % of quiet`]),
];

const KERNEL_HEAD = ['OP', 'PRECISION', 'ROWS', 'CONTEXT', 'µs', 'GB/s', 'GMAC/s', 'REFERENCE'];

const kernelRow = (kernel: BenchKernel): string[] => [
  kernel.op,
  kernel.precision,
  String(kernel.rows),
  kernel.context === null ? '' : String(kernel.context),
  range(kernel.microseconds, 0),
  kernel.gigabytes_per_second.toFixed(1),
  kernel.gigamacs_per_second.toFixed(1),
  `${kernel.agrees ? 'agrees' : 'DIFFERS'} (${kernel.error?.toExponential(1) ?? 'not a number'})`,
];

/** `median (min to max)` */
const range = ({ median, min, max }: BenchSpread, digits: number): string =>
  `${median.toFixed(digits)} (${min.toFixed(digits)} to ${max.toFixed(digits)})`;
