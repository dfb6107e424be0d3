import { readFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import type { Registry } from '@kvad/arch-registry';
import { hubCacheFolder, listCachedModels, type CachedModel, type ListedSnapshot } from '@kvad/core';
import type { CliLs } from '@kvad/schemas';
import { readDefaultModel } from '../default-model.js';
import { writeJson, writeLine } from '../io/io.js';
import { formatBytes } from '../io/quantities.js';
import { textTable } from '../io/text-table.js';
import { findModel } from '../model-folder.js';
import type { Action } from './actions.js';
import { modelTypeIn, runsHere, runsWords } from './fits.js';
import { openRegistry } from './open-registry.js';

type Row = CliLs['models'][number];

/** `kvad ls`: from names, configs and sizes; no weight is read and nobody is asked. */
export const ls: Action<'ls'> = async (io, { options }) => {
  const folder = hubCacheFolder(io.env);
  const registry = openRegistry(io, options.plugin);
  const models = listCachedModels(folder);
  const chosen = defaultFolder(io.env, io.cwd);
  const rows = models.flatMap((model) =>
    model.snapshots.map((snapshot) => rowOf(model, snapshot, registry, chosen === snapshot.folder)),
  );
  const bytes = models.reduce((sum, model) => sum + model.bytes, 0);
  if (options.json) {
    await writeJson(io.stdout, { object: 'kvad.ls', folder, bytes, models: rows } satisfies CliLs);
  } else if (rows.length === 0) {
    await writeLine(
      io.stdout,
      `there are no models in ${folder}\nkvad search NAME finds some, kvad pull MODEL downloads one`,
    );
  } else {
    await writeLine(io.stdout, `${listing(rows)}\n\n${rows.length} in ${folder}, ${formatBytes(bytes)}`);
  }
  return 0;
};

const defaultFolder = (env: Readonly<Record<string, string | undefined>>, workingDirectory: string): string | null => {
  const chosen = readDefaultModel(env);
  if (chosen === null) return null;
  try {
    return findModel(chosen, { workingDirectory, env }, 'text').folder;
  } catch {
    return null; // gone: no line has the mark, and commands that need it say so
  }
};

const rowOf = ({ id }: CachedModel, snapshot: ListedSnapshot, registry: Registry, isDefault: boolean): Row => {
  const { commit, refs, folder, bytes, missing, damaged } = snapshot;
  const config = jsonIn(folder, 'config.json');
  const modelType = modelTypeIn(config, registry);
  const whole = missing.length + damaged.length === 0;
  const outline = {
    modelType,
    storedBytes: whole ? bytes : null,
    parameters: whole ? bytes / storedWidth(config) : null,
  };
  return {
    ...{ id, commit, refs: [...refs], folder, bytes },
    model_type: modelType,
    kind: config === null ? null : hasTemplate(folder) ? 'instruct' : 'base',
    ...{ whole, missing: [...missing], damaged: [...damaged] },
    runs: whole ? runsHere(outline, registry) : { able: false, precision: null, reason: 'it is not whole' },
    default: isDefault,
  };
};

/** null: not there, or no JSON object; the command that opens the model says which. */
const jsonIn = (folder: string, name: string): Record<string, unknown> | null => {
  try {
    return JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Record<string, unknown> | null;
  } catch {
    return null;
  }
};

/** Bytes of a weight as its config says that it is stored. */
const storedWidth = (config: Record<string, unknown> | null): number => {
  const text = config?.['text_config'] as Record<string, unknown> | null | undefined;
  const dtype = config?.['dtype'] ?? config?.['torch_dtype'] ?? text?.['dtype'] ?? text?.['torch_dtype'];
  return dtype === 'float32' ? 4 : 2;
};

const hasTemplate = (folder: string): boolean =>
  existsSync(path.join(folder, 'chat_template.jinja')) ||
  existsSync(path.join(folder, 'chat_template.json')) ||
  (jsonIn(folder, 'tokenizer_config.json')?.['chat_template'] ?? null) !== null;

const listing = (rows: readonly Row[]): string =>
  textTable([
    ['MODEL', 'SIZE', 'ARCHITECTURE', 'KIND', 'COMMIT', 'STATE', 'RUNS'],
    ...rows.map((row) => [
      `${nameOf(row)}${row.default ? ' *' : ''}`,
      formatBytes(row.bytes),
      row.model_type ?? '?',
      row.kind ?? '?',
      row.commit.slice(0, 12),
      stateOf(row),
      runsWords(row.runs),
    ]),
  ]);

/** As it could be typed. */
const nameOf = ({ id, refs, commit }: Row): string =>
  refs.includes('main') ? id : `${id}@${refs[0] ?? commit.slice(0, 12)}`;

const stateOf = ({ whole, missing, damaged }: Row): string => {
  if (whole) return 'whole';
  const [first, ...more] = [...damaged.map((name) => `damaged ${name}`), ...missing.map((name) => `lacks ${name}`)];
  return more.length === 0 ? (first ?? '') : `${first ?? ''} and ${more.length} more`;
};
