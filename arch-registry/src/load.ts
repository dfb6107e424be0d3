import { pathToFileURL } from 'node:url';
import { isKvadError, KvadError, type Plugin } from '@kvad/core';
import type { Axis } from '@kvad/core/plugin';
import { kindClaim } from './conflicts.js';
import { resolveCoreToHost } from './host-core.js';
import { AXES, PART_LISTS } from './part-lists.js';
import { IMPORT_LIMIT_SECONDS, tryImport } from './trial.js';
import type { FoundPlugin, HostModules, LoadedPlugin } from './types.js';

/**
 * Imports a plugin and holds it against its package.json. Those that did not come with kvad are imported by another
 * process first. Throws KVAD_E_PLUGIN_IMPORT (it throws, or ends the process), …_TIMEOUT (it waits or computes without
 * end), …_BRAND (it exports something else) and …_MISMATCH (it brings more, less or other than the package.json says).
 *
 * @param owns whether this plugin brings a claim of its own, or another one was preferred for it
 */
export const load = async (
  found: FoundPlugin,
  owns: (claim: string) => boolean,
  host: HostModules,
): Promise<LoadedPlugin> => {
  if (found.origin !== 'bundled') await tryImport(found);
  const own = found.origin === 'bundled' ? host.plugins[found.name] : undefined;
  if (own === undefined) resolveCoreToHost(found.entry, host.core);
  const plugin = pluginOf(found, await importEntry(found, own ?? pathToFileURL(found.entry).href));
  checkAgainstManifest(found, plugin);
  return { found, plugin: withoutOthers(plugin, owns) };
};

/** Those that came with kvad have no limit: a busy machine is not their fault. */
const importEntry = async ({ name, entry, origin }: FoundPlugin, url: string): Promise<unknown> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    if (origin === 'bundled') return;
    const error = new KvadError('KVAD_E_PLUGIN_TIMEOUT', { plugin: name, entry, seconds: IMPORT_LIMIT_SECONDS });
    timer = setTimeout(() => reject(error), IMPORT_LIMIT_SECONDS * 1000);
  });
  try {
    const module = await quietly(() => Promise.race([import(url), limit]));
    return (module as { default?: unknown }).default;
  } catch (error) {
    if (isKvadError(error) && error.code === 'KVAD_E_PLUGIN_TIMEOUT') throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new KvadError('KVAD_E_PLUGIN_IMPORT', { plugin: name, entry, reason }, { cause: error });
  } finally {
    clearTimeout(timer);
  }
};

/** Imports under way, and the way to stdout that the first of them has found. */
const printing = { imports: 0, write: process.stdout.write };

/** What a plugin prints while it is imported would stand among the answers of whoever needs it: it goes to stderr. */
const quietly = async <T>(act: () => Promise<T>): Promise<T> => {
  const { stdout, stderr } = process;
  if (printing.imports++ === 0) {
    printing.write = stdout.write;
    stdout.write = stderr.write.bind(stderr);
  }
  try {
    return await act();
  } finally {
    if (--printing.imports === 0) stdout.write = printing.write;
  }
};

const pluginOf = ({ name, entry }: FoundPlugin, exported: unknown): Plugin => {
  const refuse = (found: string): never => {
    throw new KvadError('KVAD_E_PLUGIN_BRAND', { plugin: name, entry, found });
  };
  if (exported === undefined) return refuse('missing');
  if (typeof exported !== 'object' || exported === null) return refuse(`a ${typeof exported}`);
  const brand = (exported as { $$type?: unknown }).$$type;
  if (brand !== 'kvad.plugin') return refuse(`an object whose $$type is ${JSON.stringify(brand) ?? 'missing'}`);
  const plugin = exported as Plugin;
  for (const list of ['families', ...Object.values(PART_LISTS)] as const) {
    if (!Array.isArray(plugin[list])) return refuse(`a plugin whose "${list}" is no list`);
  }
  if (plugin.families.some(({ $$type }) => $$type !== 'kvad.family'))
    return refuse('a plugin with a family that is none');
  return plugin;
};

const checkAgainstManifest = (found: FoundPlugin, plugin: Plugin): void => {
  const same = (field: string, manifest: readonly string[], module: readonly string[]): void => {
    const [says, has] = [manifest, module].map((names) => [...names].sort().join(', ') || 'none') as [string, string];
    if (says === has) return;
    throw new KvadError('KVAD_E_PLUGIN_MISMATCH', { plugin: found.name, field, manifest: says, module: has });
  };
  same('the name', [found.name], [plugin.name]);
  same(
    'the model types',
    found.modelTypes,
    plugin.families.flatMap(({ modelTypes }) => modelTypes),
  );
  for (const axis of AXES) same(`the ${PART_LISTS[axis]}`, found.parts[axis] ?? [], kindsOf(plugin, axis));
};

const kindsOf = (plugin: Plugin, axis: Axis): string[] => plugin[PART_LISTS[axis]].map(({ kind }) => kind);

/** Two parts of one kind must not meet in a model: those that another plugin was preferred for are left out. */
const withoutOthers = (plugin: Plugin, owns: (claim: string) => boolean): Plugin => {
  const parts = AXES.map((axis) => [
    PART_LISTS[axis],
    plugin[PART_LISTS[axis]].filter(({ kind }) => owns(kindClaim(axis, kind))),
  ]);
  const families = plugin.families.filter(({ modelTypes }) => modelTypes.some(owns));
  return Object.freeze({ ...plugin, ...(Object.fromEntries(parts) as Partial<Plugin>), families });
};
