/** What a manifest says of foreign parts: each kind that the fixtures of a plugin's families name, and its package. */
import { BUILTIN_PARTS, PartRegistry, readConfig, type Axis, type NamedPart, type Plugin } from '@kvad/core';
import { PART_LISTS } from '@kvad/arch-registry';
import { familyIn, openPlugin, planConfig } from '@kvad/core/testing';
import { expect, it } from 'vitest';
import { partsOf } from '../../core/dist/plan/plan-parts.js';
import { at, packages, readJson } from '../gates/sources.js';
import { claimedFixtures } from './conform.js';

const folders = packages()
  .map(({ folder }) => folder)
  .filter((folder) => folder.startsWith('plugins/'));
const opened = await Promise.all(folders.map((folder) => openPlugin(at(folder))));
const parts = PartRegistry.of([BUILTIN_PARTS, ...opened.map(({ plugin }) => plugin)]);

const brings = (plugin: Plugin, { axis, part }: NamedPart): boolean =>
  (plugin[PART_LISTS[axis]] as readonly { kind: string }[]).some(({ kind }) => kind === part.kind);

/** Parts that a plan names, those that they name, and so on. */
const allParts = (named: readonly NamedPart[]): NamedPart[] =>
  named.length === 0 ? [] : [...named, ...allParts(named.flatMap((part) => parts.nested(part)))];

/** `package axis kind` of each part that the families of a plugin take from another one. */
const taken = (plugin: Plugin): string[] => {
  const types = plugin.families.flatMap(({ modelTypes }) => modelTypes);
  const foreign = claimedFixtures()
    .filter(({ modelType }) => types.includes(modelType))
    .flatMap(({ name, modelType }) => {
      const file = at(`test/fixtures/${name}/config.json`);
      return allParts(partsOf(planConfig(familyIn(opened, modelType), readConfig(file), file).plan));
    })
    .filter((part) => !brings(plugin, part) && !brings(BUILTIN_PARTS, part));
  const owner = (part: NamedPart): string => opened.find((other) => brings(other.plugin, part))!.plugin.name;
  return [...new Set(foreign.map((part) => `${owner(part)} ${part.axis} ${part.part.kind}`))].sort();
};

const declared = (folder: string): string[] => {
  const { kvad } = readJson(`${folder}/package.json`) as {
    kvad: { needs?: Record<string, Record<string, readonly string[]>> };
  };
  const axes = Object.entries(PART_LISTS) as [Axis, string][];
  return Object.entries(kvad.needs ?? {})
    .flatMap(([name, lists]) =>
      axes.flatMap(([axis, list]) => (lists[list] ?? []).map((kind) => `${name} ${axis} ${kind}`)),
    )
    .sort();
};

it.each(folders.map((folder, i) => [folder, opened[i]!.plugin] as const))(
  '%s says which kinds of others its families name',
  (folder, plugin) => {
    expect(declared(folder)).toEqual(taken(plugin));
  },
);
