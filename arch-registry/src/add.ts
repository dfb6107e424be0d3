import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { allClaims } from './conflicts.js';
import { openCandidates } from './create-registry.js';
import { discover, type Candidate } from './discover.js';
import { packagesAsTheyLie } from './host-core.js';
import { load } from './load.js';
import { npmInstall, type NpmRequest } from './npm-install.js';
import { npmSpec } from './plugin-spec.js';
import type { FoundPlugin, RegistryOptions } from './types.js';

export interface AddRequest extends Pick<NpmRequest, 'env' | 'signal'> {
  /** As the user gave it: a package, the path of a folder, a tarball. */
  readonly spec: string;
  /** Where plugins are looked for; `userDirectory` is where it goes. */
  readonly places: RegistryOptions;
}

export interface AddedPlugin {
  readonly plugin: FoundPlugin;
  /** Whether one of that name was there, whose place it has taken. */
  readonly replaced: boolean;
}

/**
 * Installs a plugin into the user's folder. npm puts it into a folder aside, where everything is checked that can be
 * (its package.json before any of its code runs, then its claims beside those of the others, then the import); only
 * then it takes its place. Whatever is thrown, the user's folder is as it was.
 * Throws KVAD_E_PLUGIN_SPEC, …_INSTALL, …_CONFLICT, and what is wrong with the plugin.
 */
export const addPlugin = async ({ spec, places, env, signal }: AddRequest): Promise<AddedPlugin> => {
  const wanted = npmSpec(spec, places.workingDirectory);
  const { userDirectory } = places;
  const created = mkdirSync(userDirectory, { recursive: true });
  const aside = mkdtempSync(path.join(userDirectory, '.adding-'));
  let done = false;
  try {
    const name = await npmInstall({ spec: wanted, folder: aside, env, signal });
    const directory = path.join(aside, 'node_modules', name);
    const plugin = await check({ directory, origin: 'user', because: `kvad arch add ${spec}`, named: true }, places);
    signal.throwIfAborted();
    const target = path.join(userDirectory, 'node_modules', plugin.name);
    const replaced = takePlace(directory, target, path.join(aside, 'before'));
    done = true;
    return { plugin: { ...plugin, directory: target, because: userDirectory }, replaced };
  } finally {
    rmSync(!done && created !== undefined ? created : aside, { recursive: true, force: true });
  }
};

const check = async (candidate: Candidate, places: RegistryOptions): Promise<FoundPlugin> => {
  const { candidates, project } = discover({ ...places, plugins: [] });
  const name = path.relative(path.join(candidate.directory, '..'), candidate.directory);
  const others = candidates.filter(({ origin, directory }) => origin !== 'user' || path.basename(directory) !== name);
  const registry = openCandidates([candidate, ...others], project, places.host);
  const broken = registry.broken.find(({ because }) => because === candidate.because);
  if (broken !== undefined) throw broken.error;
  const plugin = registry.plugins.find(({ because }) => because === candidate.because)!;
  const claims = allClaims(plugin);
  const conflict = registry.conflicts.find(({ claim }) => claims.includes(claim));
  if (conflict !== undefined) throw conflict.error;
  await load(plugin, () => true, places.host ?? packagesAsTheyLie());
  return plugin;
};

/** Moves a folder to where another may be, which comes back should that fail. */
const takePlace = (directory: string, target: string, before: string): boolean => {
  mkdirSync(path.dirname(target), { recursive: true });
  const replaced = existsSync(target);
  if (replaced) renameSync(target, before);
  try {
    renameSync(directory, target);
  } catch (error) {
    if (replaced) renameSync(before, target);
    throw error;
  }
  return replaced;
};
