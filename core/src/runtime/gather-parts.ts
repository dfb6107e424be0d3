import type { ModelPlan } from '@kvad/schemas';
import type { Axis } from '../axes/parts.js';
import { BUILTIN_PARTS } from '../axes/builtin/index.js';
import { kindsOf, partsOf } from '../plan/plan-parts.js';
import type { Plugin } from '../plan/plugin.js';
import type { PartRegistry } from './part-registry.js';

/** Imports the plugins that bring parts. */
export interface PartSource {
  /** Throws KVAD_E_PART_UNKNOWN for a kind that no plugin brings. */
  require(kinds: readonly { axis: Axis; kind: string }[]): Promise<readonly { readonly plugin: Plugin }[]>;
}

/**
 * A registry with every part that a plan names, and every part that those name in turn. Plugins are imported only for
 * kinds that the built-in parts and the plugins so far do not have.
 */
export const gatherParts = async (
  plan: ModelPlan,
  source: PartSource,
  makeParts: (plugins: readonly Plugin[]) => PartRegistry,
): Promise<PartRegistry> => {
  const plugins = new Set<Plugin>([BUILTIN_PARTS]);
  let parts = makeParts([...plugins]);
  for (let named = partsOf(plan); named.length > 0; named = named.flatMap((part) => parts.nested(part))) {
    const absent = kindsOf(named).filter(({ axis, kind }) => !parts.has(axis, kind));
    if (absent.length === 0) continue;
    for (const { plugin } of await source.require(absent)) plugins.add(plugin);
    parts = makeParts([...plugins]);
  }
  return parts;
};
