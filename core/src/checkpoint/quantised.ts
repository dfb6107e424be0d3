import type { StoredTensor } from './checkpoint.js';

interface Scheme {
  readonly name: string;
  matches(names: Endings): boolean;
}

/** Whether some tensor's name ends like this (after a dot, or as a whole component's end). */
type Endings = (ending: string) => boolean;

/** How quantised checkpoints are recognised by the tensors that their formats add. First match wins. */
const SCHEMES: readonly Scheme[] = [
  { name: 'GPTQ', matches: (has) => has('.qweight') && has('.g_idx') },
  { name: 'AWQ or GPTQ', matches: (has) => has('.qweight') && has('.scales') },
  { name: 'MXFP4', matches: (has) => has('_blocks') && has('_scales') },
  { name: 'FP8 in blocks', matches: (has) => has('_scale_inv') },
  { name: 'bitsandbytes 4-bit', matches: (has) => has('.absmax') },
  { name: 'bitsandbytes 8-bit', matches: (has) => has('.SCB') },
  { name: 'compressed-tensors', matches: (has) => has('.weight_packed') },
  { name: 'MLX', matches: (has) => has('.scales') && has('.biases') },
  { name: 'compressed-tensors, FP8 or ternary weights', matches: (has) => has('.weight_scale') },
];

/** The quantisation scheme of a checkpoint, by its tensors; null if none is recognised. */
export const quantisationOf = (tensors: Iterable<StoredTensor>): string | null => {
  const names: string[] = [];
  let fp8 = false;
  for (const { name, dtype } of tensors) {
    names.push(name);
    fp8 ||= dtype.startsWith('F8_');
  }
  const has: Endings = (ending) => names.some((name) => name.endsWith(ending));
  return SCHEMES.find((scheme) => scheme.matches(has))?.name ?? (fp8 ? 'FP8' : null);
};
