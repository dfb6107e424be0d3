import { lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { KvadError } from '@kvad/core';
import { userPackages } from './discover.js';

/**
 * Removes a plugin that `addPlugin` has installed; one that is broken too. Returns the folder that it had.
 * Throws KVAD_E_PLUGIN_NOT_ADDED.
 */
export const removePlugin = (name: string, userDirectory: string): string => {
  const known = userPackages(userDirectory);
  if (!known.includes(name))
    throw new KvadError('KVAD_E_PLUGIN_NOT_ADDED', { plugin: name, folder: userDirectory, known });
  const directory = path.join(userDirectory, 'node_modules', name);
  if (lstatSync(directory).isSymbolicLink()) {
    rmSync(directory); // the link: what it leads to is somebody's
    return directory;
  }
  const aside = mkdtempSync(path.join(userDirectory, '.removing-'));
  renameSync(directory, path.join(aside, 'plugin')); // at once: no half a plugin is ever there
  rmSync(aside, { recursive: true, force: true });
  return directory;
};
