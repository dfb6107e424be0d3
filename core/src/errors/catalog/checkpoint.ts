import { entry, list } from './entry.js';
import { fetchAgain } from './fetch-again.js';

export interface WeightReport {
  readonly directory: string;
  /** What probably happened. */
  readonly diagnosis: string | null;
  /** Findings, collapsed by layer: `missing 30 (model.layers.{0-29}.mlp.up_proj.weight)`. */
  readonly findings: readonly string[];
}

const weightReport = (p: WeightReport): string =>
  [...(p.diagnosis === null ? [] : [p.diagnosis]), ...p.findings].join('; ');

/** Model folders, safetensors files, and weights that do not fit a plan. */
export const CHECKPOINT_ERRORS = {
  // --- model folders and checkpoints -------------------------------------------------------------
  KVAD_E_MODEL_FOLDER_ABSENT: entry<{ directory: string }>(
    (p) => `there is no folder ${p.directory}`,
    'check the path',
  ),
  KVAD_E_MODEL_FOLDER_NOT_A_FOLDER: entry<{ directory: string }>(
    (p) => `${p.directory} is a file, not a model folder`,
    'give the folder that holds config.json and the safetensors files',
  ),
  KVAD_E_MODEL_FOLDER_NO_CONFIG: entry<{ directory: string; files: readonly string[] }>(
    (p) => `${p.directory} has no config.json; ${p.files.length === 0 ? 'it is empty' : `it holds ${list(p.files)}`}`,
    'give the folder that holds config.json and the safetensors files',
  ),
  KVAD_E_MODEL_FOLDER_FORMAT: entry<{ directory: string; what: string; action: string }>(
    (p) => `${p.directory} holds ${p.what}`,
    (p) => p.action,
  ),
  KVAD_E_MODEL_FOLDER_NO_WEIGHTS: entry<{ directory: string; files: readonly string[] }>(
    (p) =>
      `${p.directory} has no safetensors file; ${p.files.length === 0 ? 'it is empty' : `it holds ${list(p.files)}`}`,
    'download the safetensors files of the model into the folder too',
  ),
  KVAD_E_MODEL_FOLDER_AMBIGUOUS: entry<{ directory: string; files: readonly string[] }>(
    (p) =>
      `${p.directory} has several safetensors files and no index that tells which make the model: ${list(p.files)}`,
    'keep one of them as model.safetensors, or add model.safetensors.index.json',
  ),
  KVAD_E_SAFETENSORS_READ: entry<{ file: string; reason: string }>(
    (p) => `${p.file} cannot be read: ${p.reason}`,
    'check that the file is there, may be read, and is not being written at the moment',
  ),
  KVAD_E_FILE_SHRANK: entry<{ file: string; opened: number; now: number | string }>(
    (p) => `${p.file} can no longer be read: it had ${p.opened} bytes when it was opened and has ${p.now} now`,
    (p) =>
      p.file.endsWith('.kvq')
        ? 'do not change the quant cache while a model runs; the next run makes the file anew'
        : fetchAgain(
            p.file,
            'do not change the files of a model while it runs; if this one is damaged, fetch it again',
          ),
  ),
  KVAD_E_SAFETENSORS_FOREIGN: entry<{ file: string; looksLike: string; action: string }>(
    (p) => `${p.file} is not a safetensors file: it is ${p.looksLike}`,
    (p) => fetchAgain(p.file, p.action),
  ),
  KVAD_E_SAFETENSORS_TRUNCATED: entry<{ file: string; size: number; expected: number | null }>(
    (p) =>
      p.expected === null
        ? `${p.file} has only ${p.size} bytes, too few for a safetensors file`
        : `${p.file} is cut off: ${p.expected - p.size} of ${p.expected} bytes are missing`,
    (p) => fetchAgain(p.file, 'the download was cut off: download the file again'),
  ),
  KVAD_E_SAFETENSORS_TRAILING: entry<{ file: string; extra: number; expected: number }>(
    (p) => `${p.file} has ${p.extra} bytes behind its last tensor, which ends at byte ${p.expected}`,
    (p) => fetchAgain(p.file, 'the file is damaged: download it again'),
  ),
  KVAD_E_SAFETENSORS_HEADER: entry<{ file: string; reason: string }>(
    (p) => `${p.file} is no valid safetensors file: ${p.reason}`,
    (p) =>
      fetchAgain(p.file, 'the file is damaged or was written by a faulty program: download it again or save it anew'),
  ),
  KVAD_E_SAFETENSORS_TENSOR: entry<{ file: string; tensor: string; reason: string }>(
    (p) => `tensor "${p.tensor}" of ${p.file} is not valid: ${p.reason}`,
    (p) =>
      fetchAgain(p.file, 'the file is damaged or was written by a faulty program: download it again or save it anew'),
  ),
  KVAD_E_SAFETENSORS_INDEX: entry<{ file: string; reason: string }>(
    (p) => `${p.file} is no valid index of shards: ${p.reason}`,
    (p) =>
      fetchAgain(
        p.file,
        'the index does not belong to these shards: download index and shards again, from one revision',
      ),
  ),
  KVAD_E_SAFETENSORS_SHARD_MISSING: entry<{
    directory: string;
    index: string | null;
    shards: readonly string[];
    beside: readonly string[];
  }>(
    (p) =>
      [
        `${p.directory} lacks ${p.shards.length === 1 ? 'the shard' : `${p.shards.length} shards:`} ${list(p.shards)}`,
        ...(p.index === null ? [] : [`which ${p.index} names`]),
      ].join(', '),
    (p) =>
      p.beside.length > 0
        ? `${list(p.beside)} is there and not named by the index: if it holds the whole model, delete the index`
        : fetchAgain(p.directory, 'download the shards that are missing into the folder'),
  ),
  // --- weights -----------------------------------------------------------------------------------
  KVAD_E_WEIGHTS_MISSING: entry<WeightReport>(
    (p) => `the weights in ${p.directory} do not fill the model: ${weightReport(p)}`,
    'check that config.json and the safetensors files are of the same model and revision',
  ),
  KVAD_E_WEIGHTS_UNEXPECTED: entry<WeightReport>(
    (p) => `the weights in ${p.directory} hold tensors that the model has no place for: ${weightReport(p)}`,
    'a weight that is not used changes the result: check that config.json belongs to these files',
  ),
  KVAD_E_WEIGHTS_SHAPE: entry<WeightReport>(
    (p) => `weights in ${p.directory} have other shapes than config.json tells: ${weightReport(p)}`,
    'check that config.json and the safetensors files are of the same model and revision',
  ),
  KVAD_E_WEIGHTS_UNREADABLE: entry<WeightReport>(
    (p) => `weights in ${p.directory} are stored in a type that kvad does not read: ${weightReport(p)}`,
    'take the model in float32, float16 or bfloat16 and quantise with --quant',
  ),
  KVAD_E_WEIGHTS_TIED: entry<{ directory: string; head: string; embedding: string; difference: string }>(
    (p) =>
      `config.json ties the head to the embedding, but ${p.directory} has ${p.head} that is not ${p.embedding}: ${p.difference}`,
    'set tie_word_embeddings to false in config.json if the model was trained with a head of its own',
  ),
  KVAD_E_WEIGHTS_RULE: entry<{ slot: string; reason: string }>(
    (p) => `the weight map of the family is wrong at "${p.slot}": ${p.reason}`,
    'this is a bug of the plugin that brings the family: report it to its author',
  ),
  // --- test kit ----------------------------------------------------------------------------------
  KVAD_E_FIXTURE: entry<{ name: string; reason: string }>(
    (p) => `fixture ${p.name} cannot be used: ${p.reason}`,
    'a fixture is a folder with config.json, reference files, and weights or weights.recipe.json',
  ),
} as const;
