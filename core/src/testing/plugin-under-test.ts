import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Family } from '../plan/family.js';
import type { Plugin } from '../plan/plugin.js';

/** A plugin: the folder of its package (or its package.json), or the object with the folder of its config schemas. */
export type PluginUnderTest = string | URL | OpenedPlugin;

export interface OpenedPlugin {
  readonly plugin: Plugin;
  /** Folder of the JSON Schemas of its families. */
  readonly schemas: string;
}

export interface FamilyUnderTest extends OpenedPlugin {
  readonly family: Family;
  readonly modelType: string;
}

/** Reads a plugin's package.json as the registry does, and imports its entry. */
export const openPlugin = async (given: PluginUnderTest): Promise<OpenedPlugin> => {
  if (typeof given !== 'string' && !(given instanceof URL)) return given;
  const folder = pathOf(given).replace(/[/\\]package\.json$/, '');
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
    kvad?: { entry: string; schemas?: string };
  };
  if (manifest.kvad === undefined) throw new Error(`${folder}/package.json has no "kvad" field: it is no plugin`);
  const { entry, schemas } = manifest.kvad;
  const module = (await import(pathToFileURL(path.join(folder, entry)).href)) as { default: Plugin };
  return { plugin: module.default, schemas: path.join(folder, schemas ?? path.dirname(entry)) };
};

/** The family of a model type, and the plugin that brings it. */
export const familyIn = (opened: readonly OpenedPlugin[], modelType: string): FamilyUnderTest => {
  for (const one of opened) {
    const family = (one.plugin.families as readonly Family[]).find(({ modelTypes }) => modelTypes.includes(modelType));
    if (family !== undefined) return { ...one, family, modelType };
  }
  const names = opened.map(({ plugin }) => plugin.name).join(', ');
  throw new Error(`no family of ${names} has the model type "${modelType}"`);
};

export const pathOf = (given: string | URL): string =>
  given instanceof URL || given.startsWith('file:') ? fileURLToPath(given) : given;
