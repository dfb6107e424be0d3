import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkModelFolder, openCheckpoint } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { f32, fileOf, folderOf, refusal } from './files.js';

/** Folders that hold something else than a model that kvad reads. */
const FORMATS: readonly (readonly [files: readonly string[], message: string, hint: string])[] = [
  [['adapter_config.json', 'adapter_model.safetensors'], 'a LoRA adapter', 'merge_and_unload'],
  [['model_index.json', 'unet'], 'a diffusers pipeline', 'text_encoder'],
  [['model-q4_k_m.gguf', 'README.md'], 'a GGUF model (model-q4_k_m.gguf)', 'the original model'],
  [['pytorch_model.bin'], 'a PyTorch pickle (pytorch_model.bin)', 'safe_serialization'],
  [['pytorch_model-00001-of-00002.bin', 'pytorch_model.bin.index.json'], 'a PyTorch pickle', 'safe_serialization'],
  [['consolidated.00.pth', 'params.json'], 'a PyTorch pickle (consolidated.00.pth)', 'safe_serialization'],
  [['decoder_model.onnx'], 'an ONNX model', 'exported from'],
];

const folderWith = (names: readonly string[]): string =>
  folderOf(Object.fromEntries(names.map((name) => [name, '{}'])));

describe('a folder of another format', () => {
  it.each(FORMATS)('%j without config.json', (names, message, hint) => {
    const error = refusal(() => checkModelFolder(folderWith(names)));
    expect(error.code).toBe('KVAD_E_MODEL_FOLDER_FORMAT');
    expect(error.message).toContain(message);
    expect(error.hint).toContain(hint);
  });

  it.each(FORMATS)('%j with config.json, when its weights are asked for', (names, message, hint) => {
    const folder = folderWith([...names, 'config.json']);
    expect(checkModelFolder(folder)).toBe(join(folder, 'config.json'));
    const error = refusal(() => openCheckpoint(folder));
    expect(error.code).toBe('KVAD_E_MODEL_FOLDER_FORMAT');
    expect(error.message).toContain(message);
    expect(error.hint).toContain(hint);
  });
});

describe('a folder that is none', () => {
  it('does not exist', () => {
    const directory = join(folderOf(), 'absent');
    for (const action of [checkModelFolder, openCheckpoint]) {
      const error = refusal(() => action(directory));
      expect(error.code).toBe('KVAD_E_MODEL_FOLDER_ABSENT');
      expect(error.message).toContain(directory);
    }
  });

  it('is a file', () => {
    const file = join(folderOf({ 'model.safetensors': fileOf({ a: f32([1]) }) }), 'model.safetensors');
    expect(refusal(() => checkModelFolder(file)).code).toBe('KVAD_E_MODEL_FOLDER_NOT_A_FOLDER');
  });

  it('has no config.json: the message lists what is there', () => {
    const error = refusal(() => checkModelFolder(folderWith(['model.safetensors', 'notes.txt'])));
    expect(error.code).toBe('KVAD_E_MODEL_FOLDER_NO_CONFIG');
    expect(error.message).toContain('it holds model.safetensors, notes.txt');
    expect(refusal(() => checkModelFolder(folderOf())).message).toContain('it is empty');
  });

  it('has no weights', () => {
    const error = refusal(() => openCheckpoint(folderWith(['config.json'])));
    expect(error.code).toBe('KVAD_E_MODEL_FOLDER_NO_WEIGHTS');
    expect(error.hint).toContain('download');
  });

  it('has model weights in a subfolder only', () => {
    const folder = folderWith(['config.json']);
    mkdirSync(join(folder, 'onnx'));
    writeFileSync(join(folder, 'onnx', 'model.onnx'), '');
    expect(refusal(() => openCheckpoint(folder)).message).toContain('an ONNX model');
  });
});
