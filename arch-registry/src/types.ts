import type { ErrorCode, Family, KvadError, Plugin } from '@kvad/core';
import type { Axis } from '@kvad/core/plugin';

/**
 * Where a plugin was found, in the order of the search. Of plugins with the same name the first is taken and the others
 * are listed as broken; between plugins of different names the order decides nothing: a type claimed twice is an error.
 */
export type Origin = 'flag' | 'project' | 'user' | 'bundled';

/** What a package.json says that a plugin brings. */
export interface Claims {
  readonly modelTypes: readonly string[];
  readonly parts: Readonly<Partial<Record<Axis, readonly string[]>>>;
}

/** A plugin's package.json, read and validated without running its code. */
export interface FoundPlugin extends Claims {
  /** The package that brings each kind, as `axis:kind`, that its families name and it does not bring. */
  readonly needs: ReadonlyMap<string, string>;
  readonly name: string;
  readonly version: string;
  readonly directory: string;
  readonly origin: Origin;
  /** What named it: the flag, the kvad.config.json, the user's folder. */
  readonly because: string;
  /** Absolute paths, inside the package. */
  readonly entry: string;
  readonly schemas: string;
}

/** A plugin that cannot be used, and why; a warning unless it is the one needed. */
export interface BrokenPlugin {
  readonly name: string;
  readonly origin: Origin;
  readonly because: string;
  readonly code: ErrorCode;
  readonly reason: string;
  /** What it would have brought, as far as its package.json can be understood. */
  readonly claims: Claims;
  /** Thrown where one of its claims is needed. */
  readonly error: KvadError;
}

/** A model type, or a kind of part as `axis:kind`, that several plugins claim. */
export interface Conflict {
  readonly claim: string;
  readonly plugins: readonly string[];
  /** Thrown where the claim is needed. */
  readonly error: KvadError;
}

export interface LoadedPlugin {
  readonly found: FoundPlugin;
  /** Without the families and parts that another plugin was preferred for. */
  readonly plugin: Plugin;
}

export interface ResolvedFamily {
  readonly modelType: string;
  /** `model_type` or `text_config.model_type`. */
  readonly key: string;
  readonly family: Family;
  readonly plugin: LoadedPlugin;
  /** Folder of the family's config schema. */
  readonly schemas: string;
}

export interface RegistryOptions {
  /** Paths or package names given with `--plugin`. */
  readonly plugins: readonly string[];
  /** Where `kvad.config.json` is looked for, upwards. */
  readonly workingDirectory: string;
  /** `$XDG_DATA_HOME/kvad/plugins`. */
  readonly userDirectory: string;
  /** Package directories of the bundled plugins. */
  readonly bundled: readonly string[];
  /** Absent: the modules of the packages as they lie. */
  readonly host?: HostModules;
}

/** Where the modules are that run in this process, for a program that holds them in other files than the packages. */
export interface HostModules {
  /** URLs of the entries of @kvad/core that plugins get, by specifier. */
  readonly core: Readonly<Record<string, string>>;
  /** URLs of modules that stand for the entries of plugins, by package name. */
  readonly plugins: Readonly<Record<string, string>>;
}

export interface Registry {
  readonly plugins: readonly FoundPlugin[];
  readonly broken: readonly BrokenPlugin[];
  readonly conflicts: readonly Conflict[];
  /** Sorted model types with the plugin that brings each; those in conflict are not among them. */
  readonly modelTypes: ReadonlyMap<string, FoundPlugin>;
  /**
   * Exact match of `model_type`, then of `text_config.model_type`; imports the plugin. Throws KVAD_E_ARCH_UNKNOWN,
   * KVAD_E_ARCH_MISSING, KVAD_E_PLUGIN_CONFLICT, or what is wrong with the plugin (KVAD_E_PLUGIN_…).
   */
  resolve(config: Readonly<Record<string, unknown>>, file: string): Promise<ResolvedFamily>;
  /** The same, by the name of a type. */
  family(modelType: string): Promise<ResolvedFamily>;
  /**
   * Imports the plugins that bring these kinds, each once; kinds that core brings need none. A kind that nobody brings
   * throws KVAD_E_PART_UNKNOWN.
   */
  require(kinds: readonly { axis: Axis; kind: string }[]): Promise<readonly LoadedPlugin[]>;
}
