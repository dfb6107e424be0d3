import { kernelWarnings } from './choose-ops.js';
import { loadAddon } from './native/addon.js';
import { defaultThreads } from './threads.js';

/** What computes here, without a model. */
export interface KernelFacts {
  /** The kernel set that a run takes; `reference`: the slow one in TypeScript. */
  readonly kernels: string;
  /** Native sets that this machine runs, best first; empty: the addon was not built. */
  readonly available: readonly string[];
  readonly threads: number;
  readonly warnings: readonly string[];
}

export const kernelFacts = (env: NodeJS.ProcessEnv = process.env): KernelFacts => {
  const available = loadAddon()?.available.split(',').filter(Boolean) ?? [];
  const kernels = env['KVAD_CPU'] || (available[0] ?? 'reference');
  return { kernels, available, threads: defaultThreads(env), warnings: kernelWarnings() };
};
