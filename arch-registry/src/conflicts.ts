import { BUILTIN_PARTS, KvadError } from '@kvad/core';
import type { Axis } from '@kvad/core/plugin';
import { AXES, PART_LISTS } from './part-lists.js';
import { PROJECT_CONFIG, type ProjectConfig } from './project-config.js';
import type { Claims, Conflict, FoundPlugin } from './types.js';

/** How a kind of part is named where claims of types and kinds stand together: `mixer:attention`. */
export const kindClaim = (axis: Axis, kind: string): string => `${axis}:${kind}`;

/** Every claim of a package.json: its model types, and its kinds as `axis:kind`. */
export const allClaims = ({ modelTypes, parts }: Claims): string[] => [
  ...modelTypes,
  ...AXES.flatMap((axis) => (parts[axis] ?? []).map((kind) => kindClaim(axis, kind))),
];

/** Kinds that core brings itself. */
export const CORE_KINDS: ReadonlySet<string> = new Set(
  AXES.flatMap((axis) => BUILTIN_PARTS[PART_LISTS[axis]].map(({ kind }) => kindClaim(axis, kind))),
);

export interface Owners {
  /** The one plugin that brings each claim. */
  readonly owners: ReadonlyMap<string, FoundPlugin>;
  readonly conflicts: readonly Conflict[];
}

/**
 * Who brings what. A claim of several plugins belongs to the one that `prefer` of the kvad.config.json names, or to
 * nobody: then it is a conflict. What core brings, no plugin may claim.
 */
export const decide = (plugins: readonly FoundPlugin[], project: ProjectConfig | null): Owners => {
  const claimants = new Map<string, FoundPlugin[]>();
  for (const plugin of plugins) {
    for (const claim of allClaims(plugin)) claimants.set(claim, [...(claimants.get(claim) ?? []), plugin]);
  }
  const owners = new Map<string, FoundPlugin>();
  const conflicts: Conflict[] = [];
  for (const [claim, candidates] of claimants) {
    const preferred = project?.config.prefer?.[claim];
    const owner = CORE_KINDS.has(claim) ? undefined : ownerOf(candidates, preferred);
    if (owner !== undefined) owners.set(claim, owner);
    else conflicts.push(conflict(claim, candidates, project));
  }
  return { owners, conflicts };
};

const ownerOf = (candidates: readonly FoundPlugin[], preferred: string | undefined): FoundPlugin | undefined =>
  candidates.length === 1 ? candidates[0] : candidates.find(({ name }) => name === preferred);

const conflict = (claim: string, candidates: readonly FoundPlugin[], project: ProjectConfig | null): Conflict => {
  const plugins = [
    ...(CORE_KINDS.has(claim) ? ['@kvad/core itself'] : []),
    ...candidates.map(({ name, because }) => `${name} (${because})`),
  ];
  const line = `"prefer": { "${claim}": "${candidates[0]?.name}" } in ${project?.file ?? PROJECT_CONFIG}`;
  const decide = CORE_KINDS.has(claim)
    ? 'a kind of core cannot be replaced: remove the plugin, or have its author rename the kind'
    : `remove one of them, or write ${line}`;
  return { claim, plugins, error: new KvadError('KVAD_E_PLUGIN_CONFLICT', { claim, plugins, decide }) };
};
