import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { KvadError, isKvadError } from '../errors/kvad-error.js';
import { makeWeights, type WeightRecipe } from './recipe.js';

const RECIPE_NAME = 'weights.recipe.json';

/** Counts up when the same recipe comes to give other bytes. */
const GENERATOR_VERSION = 1;

/**
 * A checkpoint folder that is ready to be opened. `name` is a path, or a folder below the nearest `test/fixtures`
 * (`dense-core/llama`). One that holds a recipe in place of its weights is copied into a temporary folder, where the
 * weights are made once; several processes may ask for it at the same time. Do not write into it.
 * Throws KVAD_E_FIXTURE.
 */
export const fixtureDirectory = (name: string): string => {
  const source = locateFixture(name);
  if (!existsSync(join(source, RECIPE_NAME)) || hasWeights(source)) return source;
  const cache = join(tmpdir(), `kvad-fixtures-${userInfo().uid}`);
  const target = join(cache, `${basename(source)}-${contentHash(source)}`);
  if (existsSync(target)) return target;
  mkdirSync(cache, { recursive: true });
  const fresh = mkdtempSync(join(cache, '.new-'));
  try {
    cpSync(source, fresh, { recursive: true });
    makeWeights(join(source, RECIPE_NAME), fresh);
    renameSync(fresh, target);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    if (isKvadError(error) || !existsSync(target)) throw error;
    // Another process was faster: its folder has the same content, since the name holds the hash.
  }
  return target;
};

/** The folder that a name means, its weights perhaps not yet made. Throws KVAD_E_FIXTURE. */
export const locateFixture = (name: string): string => {
  if (existsSync(join(name, 'config.json'))) return resolve(name);
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const candidate = join(folder, 'test', 'fixtures', name);
    if (existsSync(candidate)) return candidate;
    if (dirname(folder) === folder) break;
  }
  const reason = `there is no such folder, and no test/fixtures/${name} in ${process.cwd()} or above it`;
  throw new KvadError('KVAD_E_FIXTURE', { name, reason });
};

/**
 * A copy of a folder that has neither weights nor a recipe, with the weights of this one; the same folder for the same
 * recipe.
 */
export const withWeights = (directory: string, recipe: WeightRecipe): string => {
  const place = mkdtempSync(join(tmpdir(), 'kvad-plan-'));
  try {
    const copy = join(place, basename(directory));
    cpSync(directory, copy, { recursive: true });
    writeFileSync(join(copy, RECIPE_NAME), JSON.stringify(recipe));
    return fixtureDirectory(copy);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
};

/** Whether a folder holds weights, made or to be made. */
export const hasWeightsOrRecipe = (folder: string): boolean =>
  hasWeights(folder) || existsSync(join(folder, RECIPE_NAME));

const hasWeights = (folder: string): boolean =>
  readdirSync(folder).some((name) => name.endsWith('.safetensors') && name !== 'reference.safetensors');

/** Of the names and contents of all files, so that an edited fixture is made anew. */
const contentHash = (folder: string): string => {
  const hash = createHash('sha256').update(`${GENERATOR_VERSION}`);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    hash.update(`\0${path.slice(folder.length)}\0`).update(readFileSync(path));
  }
  return hash.digest('hex').slice(0, 16);
};
