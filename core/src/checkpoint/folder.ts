import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { KvadError } from '../errors/kvad-error.js';
import { INDEX_NAME } from './shard-index.js';

/** What a folder that should hold a model holds instead. */
interface OtherFormat {
  readonly what: string;
  readonly action: string;
}

/**
 * Checks that a folder is one that a model could be loaded from: it exists, has a config.json, and weights that are
 * not only in another format. Returns the path of config.json. Throws KVAD_E_MODEL_FOLDER_*.
 */
export const checkModelFolder = (directory: string): string => {
  const files = listFolder(directory);
  const config = join(directory, 'config.json');
  if (files.includes('config.json')) return config;
  const other = otherFormat(files);
  if (other !== null) throw new KvadError('KVAD_E_MODEL_FOLDER_FORMAT', { directory, ...other });
  throw new KvadError('KVAD_E_MODEL_FOLDER_NO_CONFIG', { directory, files });
};

/** File names of a folder, sorted. Throws KVAD_E_MODEL_FOLDER_ABSENT and KVAD_E_MODEL_FOLDER_NOT_A_FOLDER. */
export const listFolder = (directory: string): readonly string[] => {
  if (!existsSync(directory)) throw new KvadError('KVAD_E_MODEL_FOLDER_ABSENT', { directory });
  if (!statSync(directory).isDirectory()) throw new KvadError('KVAD_E_MODEL_FOLDER_NOT_A_FOLDER', { directory });
  return readdirSync(directory).sort();
};

/** Which files hold the weights. */
export interface WeightFiles {
  /** File name of the index that decides, or null. */
  readonly index: string | null;
  /** File names; with an index the index tells them. */
  readonly files: readonly string[];
  /** Safetensors files that are there and are not read. */
  readonly unread: readonly string[];
}

/** Safetensors files that hold something else: adapters, and the reference that `kvad arch verify` reads. */
const NO_WEIGHTS = /^(adapter_|reference\.safetensors$)/;

const SHARD = /^(.*)-(\d+)-of-(\d+)\.safetensors$/;

/**
 * Decides which files hold the weights: the index, else `model.safetensors`, else a complete set of shards
 * `…-0000x-of-0000n`, else the only safetensors file. Throws KVAD_E_MODEL_FOLDER_*, and
 * KVAD_E_SAFETENSORS_SHARD_MISSING for a set of shards that is not complete.
 */
export const chooseWeightFiles = (directory: string): WeightFiles => weightFilesAmong(directory, listFolder(directory));

/** The same for a folder that is known by its file names; `directory` is what messages call it. */
export const weightFilesAmong = (directory: string, names: readonly string[]): WeightFiles => {
  const candidates = names.filter((name) => name.endsWith('.safetensors') && !NO_WEIGHTS.test(name));
  if (names.includes(INDEX_NAME)) return { index: INDEX_NAME, files: [], unread: candidates };
  if (candidates.includes('model.safetensors')) {
    const files = ['model.safetensors'];
    return { index: null, files, unread: candidates.filter((name) => name !== 'model.safetensors') };
  }
  if (candidates.length === 1 && !SHARD.test(candidates[0] as string)) {
    return { index: null, files: candidates, unread: [] };
  }
  if (candidates.length > 0) return { index: null, files: completeShards(directory, candidates), unread: [] };
  const other = otherFormat(names);
  if (other !== null) throw new KvadError('KVAD_E_MODEL_FOLDER_FORMAT', { directory, ...other });
  throw new KvadError('KVAD_E_MODEL_FOLDER_NO_WEIGHTS', { directory, files: names });
};

/** All files, if they are the shards 1 to n of one name. */
const completeShards = (directory: string, names: readonly string[]): readonly string[] => {
  const parts = names.map((name) => SHARD.exec(name));
  const first = parts[0];
  const oneSet = parts.every((part) => part !== null && part[1] === first?.[1] && part[3] === first?.[3]);
  if (!oneSet || first === null || first === undefined) {
    throw new KvadError('KVAD_E_MODEL_FOLDER_AMBIGUOUS', { directory, files: names });
  }
  const [, stem, digits, total] = first as unknown as [string, string, string, string];
  const missing = Array.from(
    { length: Math.min(Number(total), MOST_SHARDS) },
    (_, i) => `${stem}-${String(i + 1).padStart(digits.length, '0')}-of-${total}.safetensors`,
  ).filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw new KvadError('KVAD_E_SAFETENSORS_SHARD_MISSING', { directory, index: null, shards: missing, beside: [] });
  }
  return names;
};

/** A file name can claim any number of shards; no more are looked for. */
const MOST_SHARDS = 10_000;

/** Recognises folders of other tools by their files. */
const otherFormat = (names: readonly string[]): OtherFormat | null => {
  const has = (pattern: RegExp): string | undefined => names.find((name) => pattern.test(name));
  if (names.includes('model_index.json')) {
    return {
      what: 'a diffusers pipeline (model_index.json), which makes images',
      action: 'give the folder of a language model; those of a pipeline stand in its subfolders, e.g. text_encoder',
    };
  }
  if (names.includes('adapter_config.json')) {
    return {
      what: 'a LoRA adapter (adapter_config.json), not a whole model',
      action: 'merge it into its base model with merge_and_unload() of peft, save that, and give the new folder',
    };
  }
  const gguf = has(/\.gguf$/i);
  if (gguf !== undefined) {
    return {
      what: `a GGUF model (${gguf})`,
      action: 'kvad reads safetensors: give the repository of the original model that this file was made from',
    };
  }
  const pickle = has(/^(pytorch_model.*\.bin(\.index\.json)?|consolidated\..*\.pth|.*\.ckpt)$/);
  if (pickle !== undefined) {
    return {
      what: `weights as a PyTorch pickle (${pickle}), which kvad does not run`,
      action: 'convert them with save_pretrained(..., safe_serialization=True) of transformers',
    };
  }
  if (has(/\.onnx$/i) !== undefined || names.includes('onnx')) {
    return {
      what: 'an ONNX model',
      action: 'kvad reads safetensors: give the repository of the original model that it was exported from',
    };
  }
  return null;
};
