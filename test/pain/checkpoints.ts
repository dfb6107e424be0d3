import { cpSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isKvadError } from '@kvad/core';
import {
  familyIn,
  fixtureDirectory,
  openPlugin,
  readTensors,
  type TensorBytes,
  TestModel,
  writeSafetensors,
} from '@kvad/core/testing';
import { folderOf } from '../unit/checkpoint/files.js';

const DENSE = 'plugins/dense';

export type Tensors = Record<string, TensorBytes>;
export type Config = Record<string, unknown>;

/** A copy of a fixture, gone after the test, with config and tensors changed. */
export const changed = (
  fixture: string,
  change: { config?: (config: Config) => Config; tensors?: (tensors: Tensors) => Tensors },
): string => {
  const folder = folderOf();
  const source = fixtureDirectory(fixture);
  for (const name of readdirSync(source)) cpSync(join(source, name), join(folder, name));
  const configFile = join(folder, 'config.json');
  const config = JSON.parse(readFileSync(configFile, 'utf8')) as Config;
  writeFileSync(configFile, JSON.stringify(change.config?.(config) ?? config));
  if (change.tensors) {
    const file = join(folder, 'model.safetensors');
    writeSafetensors(file, change.tensors(Object.fromEntries(readTensors(file))));
  }
  return folder;
};

/** Loads a folder and runs a token: null if that went well, else the code and message of the refusal. */
export const outcome = async (directory: string): Promise<{ code: string; message: string } | null> => {
  const dense = await openPlugin(DENSE);
  const config = JSON.parse(readFileSync(join(directory, 'config.json'), 'utf8')) as Config;
  const under = familyIn([dense], String(config['model_type']));
  try {
    const model = TestModel.open({ under, plugins: [dense.plugin], directory });
    const session = await model.session();
    await session.prefill([1]);
    await session.close();
    await model.close();
    return null;
  } catch (error) {
    if (isKvadError(error)) return { code: error.code, message: error.message };
    throw error;
  }
};
