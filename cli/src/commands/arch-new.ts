import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { KvadError } from '@kvad/core';
import type { Registry } from '@kvad/arch-registry';
import type { CliArchNew } from '@kvad/schemas';
import { writeJson, writeLine } from '../io/io.js';
import type { Action } from './actions.js';
import { openRegistry } from './open-registry.js';
import { likeFamily } from './scaffold-like.js';
import { scaffoldName, type ScaffoldName } from './scaffold-name.js';
import { packageFiles, plainFamily, type FamilyFiles, type OwnPart } from './scaffold.js';

/** `kvad arch new NAME`: a package that builds and passes the conformance kit as it is. */
export const archNew: Action<'arch new'> = async (io, { args, options }) => {
  const name = scaffoldName(args.name);
  const own = ownParts(options.with);
  const registry = openRegistry(io, options.plugin);
  refuseTakenType(registry, name);
  const family: FamilyFiles =
    options.like === undefined
      ? await plainFamily(name, own, registry)
      : await likeFamily(options.like, name, registry);
  const files = packageFiles(name, own, family);

  const folder = path.resolve(io.cwd, options.dir ?? name.folder);
  refuseFullFolder(folder);
  for (const [file, text] of files) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
  const result: CliArchNew = {
    object: 'kvad.arch-new',
    name: name.package,
    model_type: name.modelType,
    directory: folder,
    files: [...files.keys()].sort(),
  };
  if (options.json) await writeJson(io.stdout, result);
  else await writeLine(io.stdout, page(result, path.relative(io.cwd, folder) || '.'));
  return 0;
};

const ownParts = (words: string | undefined): readonly OwnPart[] => {
  const wanted = (words ?? '').split(',').filter((word) => word !== '');
  const strange = wanted.find((word) => word !== 'mixer' && word !== 'ffn');
  if (strange === undefined) return [...new Set(wanted as OwnPart[])];
  const problem = `--with takes mixer, ffn, or mixer,ffn; not '${strange}'`;
  throw new KvadError('KVAD_E_USAGE', { problem, command: 'arch new' });
};

const refuseTakenType = (registry: Registry, { modelType, package: name }: ScaffoldName): void => {
  const owner = registry.modelTypes.get(modelType);
  if (owner === undefined) return;
  const reason = `the model type "${modelType}" belongs to ${owner.name}`;
  throw new KvadError('KVAD_E_SCAFFOLD', { name, reason });
};

const refuseFullFolder = (folder: string): void => {
  if (!existsSync(folder)) return;
  let files: string[];
  try {
    files = readdirSync(folder);
  } catch (cause) {
    throw new KvadError('KVAD_E_SCAFFOLD', { name: folder, reason: 'it is no folder' }, { cause });
  }
  if (files.length === 0) return;
  throw new KvadError('KVAD_E_SCAFFOLD', { name: folder, reason: 'the folder is not empty' });
};

const page = ({ name, model_type: type, files, directory }: CliArchNew, shown: string): string =>
  [
    `${name} in ${directory}: ${files.length} files`,
    `  cd ${shown} && npm install && npm test`,
    `  kvad arch show ${type} --plugin ${shown === '.' ? '.' : `./${shown}`}`,
  ].join('\n');
