import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { KvadError } from '../../errors/kvad-error.js';
import { loadAddon } from '../../kernels/native/addon.js';
import { openBytes, type ByteSource } from '../read.js';
import { quantCacheFolder, sourceOf } from './identity.js';
import type { QuantHeader } from './layout.js';
import { readHeader } from './open-quant-cache.js';

/**
 * `ready`: it will be used; `stale`: it will be made anew; `writing`: a process makes it now; `leftover`: a process that
 * made it has ended before it was complete.
 */
export type QuantCacheState = 'ready' | 'stale' | 'writing' | 'leftover';

/** A file of the quant cache's folder, as far as its name and header tell. */
export interface QuantCacheFile {
  /** Its path. */
  readonly file: string;
  /** `owner/name@revision`, or the name of a local folder with the hash that tells it from others. */
  readonly model: string;
  readonly precision: 'q8' | 'q4';
  readonly bytes: number;
  readonly state: QuantCacheState;
  /** Why it is stale. */
  readonly reason: string | null;
  /** Folder of the model that it was made from; null where the file does not say. */
  readonly directory: string | null;
}

/**
 * No writer pauses so long between two matrices. The number of one that has died may since be that of another process:
 * in a container it mostly is.
 */
const PAUSE_MILLISECONDS = 600_000;

const NAME = /^(.+)\.(q8|q4)\.kvq(?:\.(\d+)-\d+\.tmp)?$/;

/** What the cache folder holds, by name. Other files in it are not ours. Throws KVAD_E_FILE. */
export const listQuantCaches = (env: NodeJS.ProcessEnv = process.env): QuantCacheFile[] => {
  const folder = quantCacheFolder(env);
  return namesIn(folder)
    .sort()
    .flatMap((name) => describe(path.join(folder, name)) ?? []);
};

/** Removes a file of the cache. A process that has it mapped keeps what it has. Throws KVAD_E_FILE. */
export const removeQuantCache = ({ file }: QuantCacheFile): void => {
  try {
    rmSync(file, { force: true });
  } catch (error) {
    throw new KvadError('KVAD_E_FILE', { action: 'write', file, reason: (error as Error).message }, { cause: error });
  }
};

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return []; // nothing has been quantised yet
    throw new KvadError('KVAD_E_FILE', { action: 'read', file: folder, reason: message }, { cause: error });
  }
};

const describe = (file: string): QuantCacheFile | null => {
  const [, stem, precision, writer] = NAME.exec(path.basename(file)) ?? [];
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stem === undefined || stat?.isFile() !== true) return null;
  const known = { file, model: modelName(stem), precision: precision as 'q8' | 'q4', bytes: stat.size };
  if (writer !== undefined) {
    const isWritten = isRunning(Number(writer)) && Date.now() - stat.mtimeMs < PAUSE_MILLISECONDS;
    return { ...known, state: isWritten ? 'writing' : 'leftover', reason: null, directory: null };
  }
  let source: ByteSource;
  try {
    source = openBytes(file);
  } catch (error) {
    if (!(error instanceof KvadError)) throw error;
    if (!existsSync(file)) return null; // deleted meanwhile
    return { ...known, state: 'stale', reason: (error.cause as Error).message, directory: null };
  }
  try {
    const header = readHeader(source);
    const reason = typeof header === 'string' ? header : staleness(header);
    const directory = typeof header === 'string' ? null : (header.directory ?? null);
    return { ...known, state: reason === null ? 'ready' : 'stale', reason, directory };
  } finally {
    source.close();
  }
};

const modelName = (stem: string): string => {
  const [owner, ...rest] = stem.split('--');
  return owner === 'local' || rest.length === 0 ? rest.join('--') || stem : `${owner}/${rest.join('--')}`;
};

/** What can be told without the model's plan: the layout, and the files that it was made from. */
const staleness = ({ identity, directory }: QuantHeader): string | null => {
  const layout = loadAddon()?.layoutVersion;
  if (layout !== undefined && identity.layout !== layout) {
    return `its layout is version ${identity.layout}, the kernels read ${layout}`;
  }
  if (directory === undefined) return null;
  if (statSync(directory, { throwIfNoEntry: false }) === undefined) return 'the folder of the model is gone';
  const changed = identity.sources.some((source) => {
    const file = path.join(directory, source.file);
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return true;
    const now = sourceOf(file);
    return now.size !== source.size || now.id !== source.id;
  });
  return changed ? 'the files of the model have changed' : null;
};

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // it runs, as someone else
  }
};
