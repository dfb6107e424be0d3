import type { BrokenPlugin, Conflict, FoundPlugin, Registry } from '@kvad/arch-registry';
import type { ArchBroken, ArchFamily, CliArch } from '@kvad/schemas';
import { isKvadError } from '@kvad/core';
import { writeJson, writeLine } from '../io/io.js';
import { textTable } from '../io/text-table.js';
import { warn } from '../io/warn.js';
import type { Action } from './actions.js';
import { openRegistry } from './open-registry.js';
import { kindsOfAxis, planDefaults } from './planned-model.js';

/** `kvad arch`: each plugin is imported, since only its families can say what they are made of. */
export const arch: Action<'arch'> = async (io, { options }) => {
  const registry = openRegistry(io, options.plugin);
  const { families, failed } = await listFamilies(registry);
  const broken = [...registry.broken.map(brokenObject), ...failed];
  for (const { name, because, reason } of broken) await warn(io, `plugin ${name} (${because}) is left out: ${reason}`);
  for (const { error } of registry.conflicts) await warn(io, `${error.message}; ${error.hint}`);
  if (options.json) {
    const plugins = registry.plugins.map(pluginObject);
    await writeJson(io.stdout, {
      object: 'kvad.arch',
      families,
      plugins,
      broken,
      conflicts: registry.conflicts.map(conflictObject),
    } satisfies CliArch);
  } else {
    await writeLine(io.stdout, familyTable(families));
    await writeLine(io.stdout, `\n${pluginTable(registry.plugins)}`);
  }
  return 0;
};

/** A plugin that cannot be imported costs its own families only. */
const listFamilies = async (registry: Registry): Promise<{ families: ArchFamily[]; failed: ArchBroken[] }> => {
  const families: ArchFamily[] = [];
  const failed = new Map<string, ArchBroken>();
  for (const [modelType, found] of registry.modelTypes) {
    try {
      families.push(await familyObject(registry, modelType));
    } catch (error) {
      if (!isKvadError(error)) throw error;
      const { name, origin, because } = found;
      failed.set(name, { name, origin, because, code: error.code, reason: error.message });
    }
  }
  return { families, failed: [...failed.values()] };
};

const familyObject = async (registry: Registry, modelType: string): Promise<ArchFamily> => {
  const resolved = await registry.family(modelType);
  const { family, plugin } = resolved;
  const planned = planDefaults(resolved);
  return {
    architecture: family.modelTypes[0] ?? modelType,
    model_type: modelType,
    about: family.about,
    reference: family.reference,
    mixers: planned && kindsOfAxis(planned, 'mixer'),
    ffns: planned && kindsOfAxis(planned, 'ffn'),
    plugin: plugin.found.name,
    origin: plugin.found.origin,
  };
};

const pluginObject = (plugin: FoundPlugin): CliArch['plugins'][number] => ({
  name: plugin.name,
  version: plugin.version,
  origin: plugin.origin,
  because: plugin.because,
  directory: plugin.directory,
  model_types: [...plugin.modelTypes],
  parts: Object.fromEntries(Object.entries(plugin.parts).map(([axis, kinds]) => [axis, [...kinds]])),
});

const brokenObject = ({ name, origin, because, code, reason }: BrokenPlugin): ArchBroken => ({
  name,
  origin,
  because,
  code,
  reason,
});

const conflictObject = ({ claim, plugins, error }: Conflict): CliArch['conflicts'][number] => ({
  claim,
  plugins: [...plugins],
  decide: error.hint,
});

const familyTable = (families: readonly ArchFamily[]): string =>
  textTable([
    ['ARCHITECTURE', 'model_type', 'MIXER', 'FFN', 'PLUGIN', 'origin'],
    ...families.map(({ architecture, model_type, mixers, ffns, plugin, origin }) => [
      architecture,
      model_type,
      kindList(mixers),
      kindList(ffns),
      plugin,
      origin,
    ]),
  ]);

const kindList = (kinds: readonly string[] | null): string => kinds?.join(', ') ?? 'by config';

const pluginTable = (plugins: readonly FoundPlugin[]): string =>
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
