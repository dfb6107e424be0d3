import { KvadError } from '../errors/kvad-error.js';
import { loadAddon, type Addon } from './native/addon.js';
import { createNativeOps } from './native/index.js';
import type { Ops } from './ops.js';
import { createReferenceOps } from './reference/index.js';
import { defaultThreads } from './threads.js';

export interface OpsChoice {
  readonly kvCacheDtype: 'f16' | 'f32';
  /** null: `defaultThreads()`. */
  readonly threads: number | null;
}

/** What a user should know of the kernels: sets that gave wrong results on this machine when they were checked. */
export const kernelWarnings = (addon: Pick<Addon, 'distrusted'> | null = loadAddon()): string[] =>
  (addon?.distrusted.split(',') ?? [])
    .filter((name) => name !== '')
    .map((name) => `the ${name} kernels do not compute what the portable ones do on this machine: they are not used`);

/**
 * The arithmetic that runs here: native, or the reference where the addon was not built.
 * Environment: `KVAD_CPU` names a kernel set (`reference` is one), `KVAD_DEQUANT=1` keeps activations of quantised
 * products f32. A name that this machine does not run is refused.
 */
export const chooseOps = ({ kvCacheDtype, threads }: OpsChoice, env: NodeJS.ProcessEnv = process.env): Ops => {
  const wanted = env['KVAD_CPU'] || null;
  if (wanted === 'reference') return createReferenceOps({ kvCacheDtype });
  const available = loadAddon()?.available.split(',') ?? [];
  if (wanted !== null && !available.includes(wanted)) {
    throw new KvadError('KVAD_E_KERNELS', { wanted, available: [...available, 'reference'] });
  }
  const native = createNativeOps({
    threads: threads ?? defaultThreads(env),
    kvCacheDtype,
    kernels: wanted,
    dequantise: env['KVAD_DEQUANT'] === '1',
  });
  return native ?? createReferenceOps({ kvCacheDtype });
};
