import type { BrokenPlugin, Conflict, FoundPlugin } from '@kvad/arch-registry';
import type { ArchBroken, ArchConflict, ArchPlugin } from '@kvad/schemas';
import type { Io } from '../io/io.js';
import { textTable } from '../io/text-table.js';
import { warn } from '../io/warn.js';

export const pluginObject = (plugin: FoundPlugin): ArchPlugin => ({
  name: plugin.name,
  version: plugin.version,
  origin: plugin.origin,
  because: plugin.because,
  directory: plugin.directory,
  model_types: [...plugin.modelTypes],
  parts: Object.fromEntries(Object.entries(plugin.parts).map(([axis, kinds]) => [axis, [...kinds]])),
});

export const brokenObject = ({ name, origin, because, code, reason }: BrokenPlugin): ArchBroken => ({
  name,
  origin,
  because,
  code,
  reason,
});

export const conflictObject = ({ claim, plugins, error }: Conflict): ArchConflict => ({
  claim,
  plugins: [...plugins],
  decide: error.hint,
});

/** On stderr: what is not used, and what nobody has decided. */
export const warnOfBroken = async (
  io: Io,
  broken: readonly ArchBroken[],
  conflicts: readonly Conflict[],
): Promise<void> => {
  for (const { name, because, reason } of broken) await warn(io, `plugin ${name} (${because}) is left out: ${reason}`);
  for (const { error } of conflicts) await warn(io, `${error.message}; ${error.hint}`);
};

export const pluginTable = (plugins: readonly FoundPlugin[]): string =>
  textTable([
    ['PLUGIN', 'version', 'origin', 'PARTS', 'from'],
    ...plugins.map(({ name, version, origin, parts, directory }) => [
      name,
      version,
      origin,
      Object.values(parts).flat().join(', '),
      directory,
    ]),
  ]);
