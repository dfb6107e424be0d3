import { createRegistry } from '@kvad/arch-registry';
import type { CliArchList } from '@kvad/schemas';
import { writeJson, writeLine } from '../io/io.js';
import { registryOptions } from '../plugin-places.js';
import type { Action } from './actions.js';
import { brokenObject, conflictObject, pluginObject, pluginTable, warnOfBroken } from './plugin-rows.js';

/** `kvad arch list`: what the package.json of each plugin says; none of them is imported. */
export const archList: Action<'arch list'> = async (io, { options }) => {
  const places = registryOptions({ plugins: options.plugin, workingDirectory: io.cwd, env: io.env });
  const registry = createRegistry(places);
  const broken = registry.broken.map(brokenObject);
  await warnOfBroken(io, broken, registry.conflicts);
  if (options.json) {
    await writeJson(io.stdout, {
      object: 'kvad.arch-list',
      folder: places.userDirectory,
      plugins: registry.plugins.map(pluginObject),
      broken,
      conflicts: registry.conflicts.map(conflictObject),
    } satisfies CliArchList);
  } else {
    await writeLine(io.stdout, pluginTable(registry.plugins));
  }
  return 0;
};
