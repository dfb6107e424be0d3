import type { Registry } from '@kvad/arch-registry';
import type { ArchBroken, ArchFamily, CliArch } from '@kvad/schemas';
import { isKvadError } from '@kvad/core';
import { writeJson, writeLine } from '../io/io.js';
import { textTable } from '../io/text-table.js';
import type { Action } from './actions.js';
import { openRegistry } from './open-registry.js';
import { kindsOfAxis, planDefaults } from './planned-model.js';
import { brokenObject, conflictObject, pluginObject, pluginTable, warnOfBroken } from './plugin-rows.js';

/** `kvad arch`: each plugin is imported, since only its families can say what they are made of. */
export const arch: Action<'arch'> = async (io, { options }) => {
  const registry = openRegistry(io, options.plugin);
  const { families, failed } = await listFamilies(registry);
  const broken = [...registry.broken.map(brokenObject), ...failed];
  await warnOfBroken(io, broken, registry.conflicts);
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

/** A plugin that cannot be imported costs its own families only; those that hang do so at the same time. */
const listFamilies = async (registry: Registry): Promise<{ families: ArchFamily[]; failed: ArchBroken[] }> => {
  const failed = new Map<string, ArchBroken>();
  const families = await Promise.all(
    [...registry.modelTypes].map(async ([modelType, { name, origin, because }]) => {
      try {
        return await familyObject(registry, modelType);
      } catch (error) {
        if (!isKvadError(error)) throw error;
        failed.set(name, { name, origin, because, code: error.code, reason: error.message });
        return null;
      }
    }),
  );
  return { families: families.filter((family) => family !== null), failed: [...failed.values()] };
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
