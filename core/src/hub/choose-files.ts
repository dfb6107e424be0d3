import { weightFilesAmong } from '../checkpoint/folder.js';
import { INDEX_NAME } from '../checkpoint/shard-index.js';
import { isKvadError, KvadError } from '../errors/kvad-error.js';
import type { HubFile } from './client.js';
import { modelName, type HubModel } from './model-id.js';

/** Small files that a run reads: config, sampling, templates, and what a tokenizer is described by. */
const WANTED: ReadonlySet<string> = new Set([
  ...['config.json', 'generation_config.json', 'chat_template.jinja', 'chat_template.json'],
  ...['tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json', 'added_tokens.json'],
]);

/** What a tokenizer is built from where there is no tokenizer.json. */
const OLDER_TOKENIZERS =
  /^(vocab\.(json|txt)|merges\.txt|tokenizer\.model|spiece\.model|sentencepiece\.bpe\.model|.*\.tiktoken)$/;

const NAMED_TEMPLATE = /^additional_chat_templates\/[^/]+\.jinja$/;

/** The files of a repository, sorted by what becomes of them. */
export interface ChosenFiles {
  /** Small ones: they are fetched first. */
  readonly texts: readonly HubFile[];
  /** The index of shards, whose text decides which weights are needed. */
  readonly index: HubFile | null;
  /** Weight files; those of an index are told by `shardsOf`. */
  readonly weights: readonly HubFile[];
}

/** Throws KVAD_E_HUB_NOTHING_TO_RUN for a repository without config.json or safetensors files. */
export const chooseFiles = (model: HubModel, files: readonly HubFile[]): ChosenFiles => {
  const names = files.map(({ path }) => path).filter((path) => !path.includes('/'));
  const byName = new Map(files.map((file) => [file.path, file]));
  const weights = weightNames(model, names);
  if (!byName.has('config.json')) {
    const what = 'no config.json, which says what kind of model it is';
    throw new KvadError('KVAD_E_HUB_NOTHING_TO_RUN', { model: modelName(model), what, action: ORIGINAL });
  }
  const older = !byName.has('tokenizer.json');
  const texts = files.filter(
    ({ path }) => WANTED.has(path) || NAMED_TEMPLATE.test(path) || (older && OLDER_TOKENIZERS.test(path)),
  );
  return {
    texts,
    index: weights.index === null ? null : (byName.get(weights.index) ?? null),
    weights: weights.files.flatMap((name) => byName.get(name) ?? []),
  };
};

const ORIGINAL = 'look for the repository that holds the model in the form of transformers, with kvad search';

/** The same rule that chooses among the files of a folder. */
const weightNames = (model: HubModel, names: readonly string[]): { index: string | null; files: readonly string[] } => {
  try {
    return weightFilesAmong(modelName(model), names);
  } catch (error) {
    if (!isKvadError(error)) throw error;
    const { what, action } = error.params as { what?: string; action?: string };
    if (error.code === 'KVAD_E_MODEL_FOLDER_FORMAT' && what !== undefined && action !== undefined) {
      throw new KvadError('KVAD_E_HUB_NOTHING_TO_RUN', { model: modelName(model), what, action }, { cause: error });
    }
    const found = 'no weights that kvad could read: no index, no model.safetensors, no complete set of shards';
    throw new KvadError(
      'KVAD_E_HUB_NOTHING_TO_RUN',
      { model: modelName(model), what: found, action: ORIGINAL },
      { cause: error },
    );
  }
};

/** The shards that an index names, as files of the repository. Throws KVAD_E_HUB_NOTHING_TO_RUN for one that is absent. */
export const shardsIn = (model: HubModel, index: string, files: readonly HubFile[]): HubFile[] => {
  const byName = new Map(files.map((file) => [file.path, file]));
  return shardNames(index).map((name) => {
    const file = byName.get(name);
    if (file !== undefined) return file;
    const what = `an ${INDEX_NAME} that names ${name}, which is not among its files`;
    throw new KvadError('KVAD_E_HUB_NOTHING_TO_RUN', { model: modelName(model), what, action: ORIGINAL });
  });
};

/** An index that is none names no shards; it is refused when the model is opened. */
const shardNames = (index: string): string[] => {
  try {
    const { weight_map: map } = JSON.parse(index) as { weight_map?: Record<string, unknown> };
    return [...new Set(Object.values(map ?? {}))].filter((name) => typeof name === 'string').sort();
  } catch {
    return [];
  }
};
