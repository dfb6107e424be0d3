import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const CPUS = '/sys/devices/system/cpu';

/** Cores of the machine: hardware threads that share a core count once. Null where the system does not tell. */
const physicalCores = (): number | null => {
  try {
    const cores = readdirSync(CPUS)
      .filter((name) => /^cpu\d+$/.test(name))
      .map((name) => readFileSync(`${CPUS}/${name}/topology/thread_siblings_list`, 'utf8').trim());
    return cores.length > 0 ? new Set(cores).size : null;
  } catch {
    return null; // not Linux, or a container without /sys: the number of processors has to do
  }
};

/** Threads that the native arithmetic takes. */
export const MOST_THREADS = 256;

/** Threads for arithmetic: `KVAD_THREADS`, else the cores that this process may use. */
export const defaultThreads = (env: NodeJS.ProcessEnv = process.env): number => {
  const said = Number(env['KVAD_THREADS']);
  if (Number.isInteger(said) && said > 0) return Math.min(said, MOST_THREADS);
  return Math.max(1, Math.min(physicalCores() ?? Infinity, availableParallelism(), MOST_THREADS));
};
