import { KvadError } from '../errors/kvad-error.js';
import type { Ops } from '../kernels/ops.js';
import type { CompleteLoadOptions } from './load-options.js';

/** Above this many parameters the reference arithmetic is too slow to be of use. */
export const REFERENCE_LIMIT = 300e6;

export interface KernelsQuestion {
  readonly directory: string;
  /** Elements of all weights. */
  readonly parameters: number;
  readonly ops: Pick<Ops, 'name'>;
  readonly options: Pick<CompleteLoadOptions, 'requireNative' | 'allowReference'>;
}

/** The reference arithmetic runs where nobody forbids it and the model is small, or the caller allows it. */
export const refuseKernels = ({ directory, parameters, ops, options }: KernelsQuestion): void => {
  if (ops.name !== 'reference') return;
  if (options.requireNative) throw new KvadError('KVAD_E_NATIVE_MISSING', { kernels: ops.name });
  if (parameters > REFERENCE_LIMIT && !options.allowReference) {
    throw new KvadError('KVAD_E_REFERENCE_TOO_SLOW', { directory, parameters, limit: REFERENCE_LIMIT });
  }
};
