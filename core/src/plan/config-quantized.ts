import { isGiven, isObject, type RawConfig } from './config-source.js';

/** Keys under which checkpoints say that their matrices are stored in a packed form. */
const KEYS = ['quantization_config', 'quantization', 'compression_config'] as const;

/** The name of a quantisation scheme and the key that says so; null: the tensors are stored as they are. */
export const quantizationOf = (raw: RawConfig): { scheme: string; key: string } | null => {
  const key = KEYS.find((name) => isGiven(raw[name]));
  return key === undefined ? null : { scheme: schemeOf(raw[key]), key };
};

const schemeOf = (value: unknown): string => {
  if (!isObject(value)) return JSON.stringify(value);
  const { quant_method: method, quant_algo: algorithm, bits, group_size: group, mode } = value;
  if (typeof method === 'string') return typeof algorithm === 'string' ? `${method} ${algorithm}` : method;
  if (bits !== undefined && group !== undefined) return `${String(mode ?? 'affine')}, ${bits} bits, groups of ${group}`;
  return Object.keys(value).join(', ');
};
