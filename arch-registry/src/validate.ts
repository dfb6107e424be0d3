import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { isKvadError, KvadError } from '@kvad/core';
import { PLUGIN_API_VERSION, type Axis } from '@kvad/core/plugin';
import type { PartLists, PluginManifest } from '@kvad/schemas';
import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';
import { kindClaim } from './conflicts.js';
import type { Candidate } from './discover.js';
import { AXES, PART_LISTS } from './part-lists.js';
import type { SchemaCheck } from './schema-problem.js';
import type { BrokenPlugin, Claims, FoundPlugin } from './types.js';

export type Validated = { readonly found: FoundPlugin } | { readonly broken: BrokenPlugin };

/** What package.json files are held against. */
export interface Against {
  /** Version of the @kvad/core that plugins get. */
  readonly coreVersion: string;
  readonly checkManifest: SchemaCheck;
}

const NO_CLAIMS: Claims = { modelTypes: [], parts: {} };

/**
 * Reads a candidate's package.json and checks all that can be checked without running its code: the manifest's schema,
 * the version of the interface, the range of @kvad/core, and that entry and schemas are there, inside of the package.
 * Returns null for a package that is no plugin and that nobody named; throws KVAD_E_PLUGIN_NO_MANIFEST if somebody did.
 */
export const validate = (candidate: Candidate, { coreVersion, checkManifest }: Against): Validated | null => {
  const { directory, origin, because } = candidate;
  let name = path.basename(directory);
  let claims = NO_CLAIMS;
  try {
    const description = readPackage(directory);
    if (description?.['kvad'] === undefined) {
      if (candidate.named) throw new KvadError('KVAD_E_PLUGIN_NO_MANIFEST', { directory, because });
      return null;
    }
    name = nameOf(description, directory);
    const manifest = manifestOf(description, directory, checkManifest);
    claims = claimsOf(manifest);
    checkVersions(name, manifest, description, coreVersion);
    const entry = insidePath(name, directory, 'entry', manifest.entry, 'file');
    const schemas = insidePath(name, directory, 'schemas', manifest.schemas ?? path.dirname(manifest.entry), 'folder');
    const version = stringOf(description, 'version', directory);
    const needs = needsOf(manifest);
    return { found: { name, version, directory, origin, because, entry, schemas, needs, ...claims } };
  } catch (error) {
    if (!isKvadError(error) || error.code === 'KVAD_E_PLUGIN_NO_MANIFEST') throw error;
    return { broken: { name, origin, because, code: error.code, reason: error.message, claims, error } };
  }
};

/** undefined: there is no package.json. */
const readPackage = (directory: string): Readonly<Record<string, unknown>> | undefined => {
  const file = path.join(directory, 'package.json');
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  try {
    // Looked at before it is opened: opening a pipe would wait for its writer.
    if (!stats.isFile()) throw new Error('it is not a file');
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>;
    throw new Error('it holds no JSON object');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new KvadError('KVAD_E_PLUGIN_JSON', { file, reason }, { cause: error });
  }
};

/** A name of npm's: it is printed, and it is a path below node_modules. */
export const PACKAGE_NAME = /^(@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i;

const nameOf = (description: Readonly<Record<string, unknown>>, directory: string): string => {
  const name = stringOf(description, 'name', directory);
  if (PACKAGE_NAME.test(name)) return name;
  const file = path.join(directory, 'package.json');
  throw new KvadError('KVAD_E_PLUGIN_MANIFEST', { file, reason: `"name" is ${JSON.stringify(name)}, no package name` });
};

const stringOf = (description: Readonly<Record<string, unknown>>, key: string, directory: string): string => {
  const value = description[key];
  if (typeof value === 'string' && value !== '') return value;
  const file = path.join(directory, 'package.json');
  throw new KvadError('KVAD_E_PLUGIN_MANIFEST', { file, reason: `"${key}" must be a string` });
};

const manifestOf = (
  description: Readonly<Record<string, unknown>>,
  directory: string,
  check: SchemaCheck,
): PluginManifest => {
  const manifest = description['kvad'];
  const problem = check(manifest);
  if (problem === null) return manifest as PluginManifest;
  const file = path.join(directory, 'package.json');
  throw new KvadError('KVAD_E_PLUGIN_MANIFEST', { file, reason: `in its "kvad" field ${problem}` });
};

const claimsOf = ({ modelTypes = [], parts = {} }: PluginManifest): Claims => ({
  modelTypes,
  parts: Object.fromEntries(kindsByAxis(parts).filter(([, kinds]) => kinds.length > 0)),
});

const needsOf = ({ needs = {} }: PluginManifest): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(needs).flatMap(([name, lists]) =>
      kindsByAxis(lists).flatMap(([axis, kinds]) => kinds.map((kind) => [kindClaim(axis, kind), name] as const)),
    ),
  );

const kindsByAxis = (lists: PartLists): [Axis, readonly string[]][] =>
  AXES.map((axis) => [axis, lists[PART_LISTS[axis]] ?? []]);

const checkVersions = (
  plugin: string,
  { apiVersion }: PluginManifest,
  description: Readonly<Record<string, unknown>>,
  version: string,
): void => {
  if (apiVersion !== PLUGIN_API_VERSION) {
    throw new KvadError('KVAD_E_PLUGIN_API', { plugin, apiVersion, supported: PLUGIN_API_VERSION });
  }
  const peers = description['peerDependencies'] as Readonly<Record<string, unknown>> | undefined;
  const range = peers?.['@kvad/core'];
  if (typeof range !== 'string') throw new KvadError('KVAD_E_PLUGIN_PEER', { plugin, range: null, version });
  if (validRange(range) === null || !satisfies(version, range, { includePrerelease: true })) {
    throw new KvadError('KVAD_E_PLUGIN_PEER', { plugin, range, version });
  }
};

/** The absolute path of a file or folder of the package; links that lead out of it are refused as well. */
const insidePath = (
  plugin: string,
  directory: string,
  field: string,
  value: string,
  kind: 'file' | 'folder',
): string => {
  const refuse = (reason: string): never => {
    throw new KvadError('KVAD_E_PLUGIN_FILE', { plugin, field, value, reason });
  };
  const target = path.resolve(directory, value);
  if (!isInside(directory, target)) return refuse('lies outside of its package');
  if (!existsSync(target)) return refuse('is not there');
  const real = realpathSync(target);
  if (!isInside(realpathSync(directory), real)) return refuse('leads out of its package');
  const stats = statSync(real);
  if (kind === 'file' ? !stats.isFile() : !stats.isDirectory()) return refuse(`is no ${kind}`);
  return real;
};

const isInside = (directory: string, target: string): boolean => {
  const relative = path.relative(directory, target);
  return relative === '' || !(relative === '..' || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative));
};
