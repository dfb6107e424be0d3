import { createHash } from 'node:crypto';
import { access, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import type { ProgressFile } from '@kvad/core';
import { writeLine, type Io } from '../io/io.js';
import { fileError } from '../io/read-input.js';
import type { Options } from './table.js';

/**
 * Where a run notes its windows: beside `--output`, else in the user's cache under a name made of the arguments. Where
 * the cache cannot be written a run that is not to be resumed does without. Throws KVAD_E_FILE.
 */
export const progressFile = async (
  io: Io,
  file: string | undefined,
  options: Options<'perplexity'>,
): Promise<{ progress?: ProgressFile }> => {
  const place =
    options.output === undefined
      ? path.join(cacheFolder(io), `${nameOf(io, file, options)}.progress`)
      : `${path.resolve(io.cwd, options.output)}.progress`;
  if (options.resume && !(await exists(place))) {
    await writeLine(io.stderr, `there is no ${place}: the run begins with its first window`);
  }
  if (options.output !== undefined) return { progress: { file: place, resume: options.resume } };
  try {
    await mkdir(path.dirname(place), { recursive: true });
    return { progress: { file: place, resume: options.resume } };
  } catch (cause) {
    if (options.resume) throw fileError('write', place, cause);
    return {};
  }
};

const cacheFolder = ({ env }: Io): string => {
  const cache = env.XDG_CACHE_HOME;
  return path.join(
    cache !== undefined && path.isAbsolute(cache) ? cache : path.join(homedir(), '.cache'),
    'kvad/scoring',
  );
};

/** Flags that change neither the numbers nor what is written. */
const FREE = new Set(['json', 'debug', 'resume', 'force', 'tokenIds', 'noWindows']);

const nameOf = ({ cwd }: Io, file: string | undefined, options: Options<'perplexity'>): string => {
  const given = Object.entries(options).filter(([name, value]) => value !== undefined && !FREE.has(name));
  return createHash('sha256')
    .update(JSON.stringify([cwd, file ?? null, given]))
    .digest('hex')
    .slice(0, 16);
};

const exists = async (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );
