/** The checkpoints under test/fixtures that a plugin of this repository claims, by the folder that they lie in. */
import { existsSync } from 'node:fs';
import { at, packages, readJson, registeredModelTypes, repositoryFiles } from '../gates/sources.js';

export interface ConformanceCase {
  /** Below test/fixtures: `dense-core/llama`. */
  readonly name: string;
  readonly directory: string;
  readonly modelType: string;
}

/** Package folders of all plugins: a family may name parts of any of them. */
export const pluginFolders = packages()
  .filter(({ folder }) => folder.startsWith('plugins/'))
  .map(({ folder }) => at(folder));

export const claimedFixtures = (): ConformanceCase[] => {
  const known = new Set(registeredModelTypes());
  return repositoryFiles()
    .filter((file) => /^test\/fixtures\/[^/]+\/[^/]+\/config\.json$/.test(file))
    .map((file) => file.replace('/config.json', ''))
    .filter((folder) => existsSync(at(`${folder}/reference.safetensors`)))
    .map((folder) => ({
      name: folder.replace('test/fixtures/', ''),
      directory: at(folder),
      modelType: readJson(`${folder}/config.json`)['model_type'] as string,
    }))
    .filter(({ modelType }) => known.has(modelType));
};
