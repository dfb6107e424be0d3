import type { Family, Plugin } from '@kvad/core';
import type { Axis } from '@kvad/core/plugin';

/** Where a plugin was found, in the order that decides conflicts of nothing: a type claimed twice is an error. */
export type Origin = 'flag' | 'project' | 'user' | 'bundled';

/** A plugin's package.json, read and validated without running its code. */
export interface FoundPlugin {
  readonly name: string;
  readonly version: string;
  readonly directory: string;
  readonly origin: Origin;
  /** What named it: the flag, the kvad.config.json, the user's folder. */
  readonly because: string;
  readonly entry: string;
  readonly schemas: string;
  readonly modelTypes: readonly string[];
  readonly parts: Readonly<Partial<Record<Axis, readonly string[]>>>;
}

/** A plugin that cannot be used, and why; a warning unless it is the one needed. */
export interface BrokenPlugin {
  readonly name: string;
  readonly origin: Origin;
  readonly because: string;
  readonly code: string;
  readonly reason: string;
}

export interface LoadedPlugin {
  readonly found: FoundPlugin;
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
}

export interface Registry {
  readonly plugins: readonly FoundPlugin[];
  readonly broken: readonly BrokenPlugin[];
  /** Sorted model types with the plugin that brings each. */
  readonly modelTypes: ReadonlyMap<string, FoundPlugin>;
  /** Exact match of `model_type`, then of `text_config.model_type`; imports the plugin. Throws KVAD_E_ARCH_UNKNOWN. */
  resolve(config: Readonly<Record<string, unknown>>, file: string): Promise<ResolvedFamily>;
  family(modelType: string): Promise<ResolvedFamily>;
  /** Imports the plugins that bring these kinds; a kind that nobody brings throws KVAD_E_PART_UNKNOWN. */
  require(kinds: readonly { axis: Axis; kind: string }[]): Promise<readonly LoadedPlugin[]>;
}
