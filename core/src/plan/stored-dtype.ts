import { shortJson } from './short-json.js';
import { isGiven, type RawConfig } from './config-source.js';

/**
 * `dtype` and its older name `torch_dtype` say how the tensors were stored. The tensors say it themselves, so neither
 * is used; two that disagree are the trace of a file put together by hand.
 */
export const storedDtypeConflict = (
  raw: RawConfig,
): { keys: readonly [string, string]; values: readonly [string, string] } | null => {
  const { dtype, torch_dtype: older } = raw;
  if (!isGiven(dtype) || !isGiven(older) || plain(dtype) === plain(older)) return null;
  return { keys: ['dtype', 'torch_dtype'], values: [shortJson(dtype), shortJson(older)] };
};

/** `torch.bfloat16` -> `bfloat16`. */
const plain = (dtype: unknown): unknown => (typeof dtype === 'string' ? dtype.replace(/^torch\./, '') : dtype);
