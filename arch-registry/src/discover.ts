import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { KvadError } from '@kvad/core';
import { findProjectConfig, foldersUpwards, type ProjectConfig } from './project-config.js';
import type { Origin, RegistryOptions } from './types.js';

/** A folder that may hold a plugin; nothing in it has been read yet. */
export interface Candidate {
  /** Real path. */
  readonly directory: string;
  readonly origin: Origin;
  readonly because: string;
  /** Somebody named it: it must be a plugin. The folders of the user's packages are only looked through. */
  readonly named: boolean;
}

export interface Discovery {
  readonly candidates: readonly Candidate[];
  readonly project: ProjectConfig | null;
}

/**
 * Plugins of the four places, in this order: `--plugin`, the project's kvad.config.json, the user's folder, bundled.
 * A folder found twice counts once. Throws KVAD_E_PLUGIN_NOT_FOUND, KVAD_E_PLUGIN_IN_MODEL, KVAD_E_PROJECT_CONFIG.
 */
export const discover = (options: RegistryOptions): Discovery => {
  const project = findProjectConfig(options.workingDirectory);
  const candidates = [
    ...options.plugins.map((plugin) => named(plugin, options.workingDirectory, options, 'flag', `--plugin ${plugin}`)),
    ...fromProject(project, options),
    ...fromUser(options.userDirectory),
    ...options.bundled.map((directory) => candidate(directory, 'bundled', 'bundled with kvad', true)),
  ];
  const first = new Map<string, Candidate>();
  for (const found of candidates) if (!first.has(found.directory)) first.set(found.directory, found);
  return { candidates: [...first.values()], project };
};

const fromProject = (project: ProjectConfig | null, options: RegistryOptions): Candidate[] => {
  const plugins = project?.config.plugins ?? [];
  if (project === null || plugins.length === 0) return [];
  const folder = path.dirname(project.file);
  refuseModelFolder(folder, project.file);
  return plugins.map((plugin) => named(plugin, folder, options, 'project', project.file));
};

/** That they are plugins is for their package.json to say. */
const fromUser = (userDirectory: string): Candidate[] =>
  userPackages(userDirectory).map((name) =>
    candidate(path.join(userDirectory, 'node_modules', name), 'user', userDirectory, false),
  );

/** Packages of the user's `node_modules`, scoped ones too. */
export const userPackages = (userDirectory: string): string[] => {
  const modules = path.join(userDirectory, 'node_modules');
  return foldersIn(modules).flatMap((name) =>
    name.startsWith('@') ? foldersIn(path.join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
  );
};

const foldersIn = (folder: string): string[] =>
  statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
    ? readdirSync(folder)
        .filter((name) => !name.startsWith('.'))
        .sort()
    : [];

/** A path (`./x`, `../x`, `/x`) relative to `base`, or a package that Node would find from there, or in the user's folder. */
const named = (
  plugin: string,
  base: string,
  { userDirectory }: RegistryOptions,
  origin: Origin,
  because: string,
): Candidate => {
  const places = isPath(plugin)
    ? [path.resolve(base, plugin)]
    : [...foldersUpwards(base), userDirectory].map((folder) => path.join(folder, 'node_modules', plugin));
  const directory = places.find((place) => statSync(place, { throwIfNoEntry: false })?.isDirectory());
  if (directory === undefined) throw new KvadError('KVAD_E_PLUGIN_NOT_FOUND', { plugin, because });
  refuseModelFolder(directory, because);
  return candidate(directory, origin, because, true);
};

export const isPath = (plugin: string): boolean => path.isAbsolute(plugin) || /^\.{1,2}([\\/]|$)/.test(plugin);

const candidate = (directory: string, origin: Origin, because: string, isNamed: boolean): Candidate => ({
  directory: existsSync(directory) ? realpathSync(directory) : directory,
  origin,
  because,
  named: isNamed,
});

/** Code never comes from a model's folder, not even with a kvad.config.json in it: it may have been downloaded. */
export const refuseModelFolder = (directory: string, because: string): void => {
  const files = foldersIn(directory);
  const isModel = files.includes('config.json') && files.some((name) => /\.safetensors(\.index\.json)?$/.test(name));
  if (isModel) throw new KvadError('KVAD_E_PLUGIN_IN_MODEL', { directory, because });
};
