import path from 'node:path';
import { KvadError, listQuantCaches, quantCacheFolder, removeQuantCache, type QuantCacheFile } from '@kvad/core';
import type { CliCache } from '@kvad/schemas';
import { writeJson, writeLine } from '../io/io.js';
import { formatBytes } from '../io/quantities.js';
import { textTable } from '../io/text-table.js';
import type { Action } from './actions.js';

/** `kvad cache`: what is kept, without loading a model. */
export const cache: Action<'cache'> = async (io, { options }) => {
  const folder = quantCacheFolder(io.env);
  const files = listQuantCaches(io.env);
  if (options.json) await writeJson(io.stdout, result(folder, files, []));
  else if (files.length === 0) await writeLine(io.stdout, `no quantised weights are kept in ${folder}`);
  else await writeLine(io.stdout, `${listing(files)}\n\n${total(files)} in ${folder}`);
  return 0;
};

/** `kvad cache clear [NAME]`. Throws KVAD_E_CACHE_ABSENT for a name that nothing has. */
export const cacheClear: Action<'cache clear'> = async (io, { args, options }) => {
  const folder = quantCacheFolder(io.env);
  const all = listQuantCaches(io.env);
  const { name } = args;
  const meant = name === undefined ? all : all.filter((file) => isNamed(file, name, io.cwd));
  if (name !== undefined && meant.length === 0) {
    throw new KvadError('KVAD_E_CACHE_ABSENT', { name, folder, models: [...new Set(all.map(({ model }) => model))] });
  }
  const removed = meant.filter(({ state }) => state !== 'writing');
  for (const file of removed) removeQuantCache(file);
  const kept = all.filter((file) => !removed.includes(file));
  if (options.json) await writeJson(io.stdout, result(folder, kept, removed));
  else await writeLine(io.stdout, removed.length === 0 ? 'nothing to delete' : `deleted ${total(removed)}`);
  return 0;
};

const isNamed = ({ file, model, directory }: QuantCacheFile, name: string, workingDirectory: string): boolean =>
  name === model ||
  name === path.basename(file) ||
  (directory !== null && path.resolve(workingDirectory, name) === directory);

const result = (folder: string, files: readonly QuantCacheFile[], removed: readonly QuantCacheFile[]): CliCache => ({
  object: 'kvad.cache',
  folder,
  bytes: bytesOf(files),
  files: files.map(entry),
  removed: removed.map(entry),
});

const entry = (file: QuantCacheFile): CliCache['files'][number] => ({ ...file, file: path.basename(file.file) });

const listing = (files: readonly QuantCacheFile[]): string =>
  textTable([
    ['MODEL', 'PRECISION', 'SIZE', 'STATE', 'FILE'],
    ...files.map(({ model, precision, bytes, state, reason, file }) => [
      model,
      precision,
      formatBytes(bytes),
      reason === null ? state : `${state}: ${reason}`,
      path.basename(file),
    ]),
  ]);

const total = (files: readonly QuantCacheFile[]): string =>
  `${files.length} ${files.length === 1 ? 'file' : 'files'}, ${formatBytes(bytesOf(files))}`;

const bytesOf = (files: readonly QuantCacheFile[]): number => files.reduce((sum, { bytes }) => sum + bytes, 0);
