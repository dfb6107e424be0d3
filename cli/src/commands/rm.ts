import { createInterface } from 'node:readline/promises';
import path from 'node:path';
import {
  hubCacheFolder,
  KvadError,
  listQuantCaches,
  modelName,
  planRemoval,
  removeCached,
  removeQuantCache,
  type QuantCacheFile,
  type Removal,
} from '@kvad/core';
import type { CliRm } from '@kvad/schemas';
import { readDefaultModel } from '../default-model.js';
import { writeJson, writeLine, type Io } from '../io/io.js';
import { formatBytes } from '../io/quantities.js';
import { warn } from '../io/warn.js';
import type { Action } from './actions.js';
import { hubModel } from './pull.js';

/** `kvad rm MODEL[@revision]`: asks on a terminal. Exit code 1 where the answer is no. */
export const rm: Action<'rm'> = async (io, { args, options }) => {
  const cache = hubCacheFolder(io.env);
  const removal = planRemoval(cache, hubModel(args.model, 'rm'));
  const quantised = listQuantCaches(io.env).filter(
    ({ directory, state }) => isBelow(directory, removal) && state !== 'writing',
  );
  const bytes = removal.bytes + quantised.reduce((sum, file) => sum + file.bytes, 0);
  const name = modelName(removal.model);
  if (!options.yes && !(await confirm(io, `delete ${name}, ${formatBytes(bytes)} in ${removal.folder}? [y/N] `))) {
    await writeLine(io.stderr, 'nothing was deleted');
    return 1;
  }
  await removeCached(cache, removal, io.interrupt);
  for (const file of quantised) removeQuantCache(file);
  if (options.json) await writeJson(io.stdout, rmObject(removal, bytes, quantised));
  else await writeLine(io.stdout, `deleted ${name}: ${formatBytes(bytes)}`);
  if (readDefaultModel(io.env)?.split('@')[0] === removal.model.id) {
    await warn(io, `${removal.model.id} is the default model: choose another with kvad use`);
  }
  return 0;
};

const isBelow = (directory: string | null, { folder }: Removal): boolean =>
  directory !== null && `${directory}${path.sep}`.startsWith(`${folder}${path.sep}`);

/** Throws KVAD_E_USAGE where nobody can be asked. */
const confirm = async (io: Io, question: string): Promise<boolean> => {
  if (io.stdin.isTTY !== true) {
    const problem = 'stdin is no terminal, so nobody can be asked: --yes is needed to delete';
    throw new KvadError('KVAD_E_USAGE', { problem, command: 'rm' });
  }
  const terminal = createInterface({ input: io.stdin, output: io.stderr });
  try {
    return /^\s*y(es)?\s*$/i.test(await terminal.question(question, { signal: io.interrupt }));
  } finally {
    terminal.close();
  }
};

const rmObject = ({ model, folder, commits }: Removal, bytes: number, quantised: readonly QuantCacheFile[]): CliRm => ({
  object: 'kvad.rm',
  model: model.id,
  revision: model.revision,
  folder,
  commits: [...commits],
  bytes,
  quantised: quantised.map(({ file }) => file),
});
