import { KvadError } from '@kvad/core';
import type { Axis } from '@kvad/core/plugin';
import { allClaims, CORE_KINDS, decide, kindClaim, type Owners } from './conflicts.js';
import { discover, type Candidate } from './discover.js';
import { coreVersion, packagesAsTheyLie } from './host-core.js';
import { load } from './load.js';
import type { ProjectConfig } from './project-config.js';
import { modelTypeOf, unknownType, type NamedType } from './resolve.js';
import { schemaCheck } from './schema-problem.js';
import type {
  BrokenPlugin,
  Conflict,
  FoundPlugin,
  HostModules,
  LoadedPlugin,
  Registry,
  RegistryOptions,
  ResolvedFamily,
} from './types.js';
import { validate } from './validate.js';

/**
 * Finds the plugins of the four places and reads their package.json; no code of theirs runs before it is needed.
 * Throws what is wrong with what somebody named: KVAD_E_PLUGIN_NOT_FOUND, …_NO_MANIFEST, …_IN_MODEL,
 * KVAD_E_PROJECT_CONFIG. Other plugins that cannot be used stand in `broken`.
 */
export const createRegistry = (options: RegistryOptions): Registry => {
  const { candidates, project } = discover(options);
  return openCandidates(candidates, project, options.host);
};

/** The registry of these candidates: of two with the same name the first is taken. */
export const openCandidates = (
  candidates: readonly Candidate[],
  project: ProjectConfig | null,
  host: HostModules = packagesAsTheyLie(),
): Registry => {
  const against = { coreVersion: coreVersion(), checkManifest: schemaCheck('plugin-manifest') };
  const found: FoundPlugin[] = [];
  const broken: BrokenPlugin[] = [];
  for (const validated of candidates.map((candidate) => validate(candidate, against))) {
    if (validated === null) continue;
    if ('broken' in validated) {
      broken.push(validated.broken);
      continue;
    }
    const first = found.find(({ name }) => name === validated.found.name);
    if (first === undefined) found.push(validated.found);
    else broken.push(shadowed(validated.found, first));
  }
  return new PluginRegistry(found, broken, decide(found, project), host);
};

const shadowed = (plugin: FoundPlugin, first: FoundPlugin): BrokenPlugin => {
  const { name, origin, because, directory } = plugin;
  const error = new KvadError('KVAD_E_PLUGIN_SHADOWED', { plugin: name, directory, by: first.directory });
  return { name, origin, because, code: error.code, reason: error.message, claims: plugin, error };
};

class PluginRegistry implements Registry {
  readonly conflicts: readonly Conflict[];
  readonly modelTypes: ReadonlyMap<string, FoundPlugin>;
  readonly #owners: Owners['owners'];
  readonly #host: HostModules;
  readonly #loaded = new Map<FoundPlugin, Promise<LoadedPlugin>>();

  constructor(
    readonly plugins: readonly FoundPlugin[],
    readonly broken: readonly BrokenPlugin[],
    { owners, conflicts }: Owners,
    host: HostModules,
  ) {
    this.#host = host;
    this.#owners = owners;
    this.conflicts = conflicts;
    const types = plugins.flatMap(({ modelTypes }) => modelTypes).filter((type) => owners.has(type));
    this.modelTypes = new Map([...new Set(types)].sort().map((type) => [type, owners.get(type)!]));
  }

  async resolve(config: Readonly<Record<string, unknown>>, file: string): Promise<ResolvedFamily> {
    return this.#family(modelTypeOf(config, file, this.#claimedTypes()));
  }

  async family(modelType: string): Promise<ResolvedFamily> {
    const claimed = this.#claimedTypes();
    if (!claimed.has(modelType)) throw unknownType(modelType, 'model_type', 'asked for by name', claimed);
    return this.#family({ modelType, key: 'model_type' });
  }

  async require(kinds: readonly { axis: Axis; kind: string }[]): Promise<readonly LoadedPlugin[]> {
    const needed = kinds.filter(({ axis, kind }) => !this.#isCore(axis, kind));
    const plugins = new Set(needed.map(({ axis, kind }) => this.#ownerOfKind(axis, kind)));
    return Promise.all([...plugins].map((plugin) => this.#load(plugin)));
  }

  async #family({ modelType, key }: NamedType): Promise<ResolvedFamily> {
    const found = this.#ownerOf(modelType);
    const plugin = await this.#load(found);
    const family = plugin.plugin.families.find(({ modelTypes }) => modelTypes.includes(modelType))!;
    return { modelType, key, family, plugin, schemas: found.schemas };
  }

  #load(found: FoundPlugin): Promise<LoadedPlugin> {
    const loading =
      this.#loaded.get(found) ??
      load(found, (claim) => this.#owners.get(claim)?.directory === found.directory, this.#host);
    this.#loaded.set(found, loading);
    return loading;
  }

  /** The plugin that brings a claim which somebody has made; throws what keeps it from being used. */
  #ownerOf(claim: string): FoundPlugin {
    const owner = this.#owners.get(claim);
    if (owner !== undefined) return owner;
    const obstacle = this.conflicts.find((conflict) => conflict.claim === claim) ?? this.#brokenOf(claim);
    throw obstacle!.error;
  }

  #ownerOfKind(axis: Axis, kind: string): FoundPlugin {
    const claim = kindClaim(axis, kind);
    const claimed = this.#owners.has(claim) || this.#brokenOf(claim) !== undefined;
    if (claimed || this.conflicts.some((conflict) => conflict.claim === claim)) return this.#ownerOf(claim);
    const prefix = kindClaim(axis, '');
    const known = [...this.#owners.keys(), ...CORE_KINDS].filter((name) => name.startsWith(prefix));
    throw new KvadError('KVAD_E_PART_UNKNOWN', {
      axis,
      kind,
      provider: this.plugins.map(({ needs }) => needs.get(claim)).find((name) => name !== undefined) ?? null,
      known: known.map((name) => name.slice(prefix.length)).sort(),
    });
  }

  #isCore(axis: Axis, kind: string): boolean {
    const claim = kindClaim(axis, kind);
    return CORE_KINDS.has(claim) && !this.conflicts.some((conflict) => conflict.claim === claim);
  }

  #brokenOf(claim: string): BrokenPlugin | undefined {
    return this.broken.find(({ claims }) => allClaims(claims).includes(claim));
  }

  #claimedTypes(): ReadonlySet<string> {
    const conflicting = this.conflicts.map(({ claim }) => claim).filter((claim) => !claim.includes(':'));
    return new Set([
      ...this.modelTypes.keys(),
      ...conflicting,
      ...this.broken.flatMap(({ claims }) => claims.modelTypes),
    ]);
  }
}
