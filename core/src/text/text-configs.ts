import { isObject, type RawConfig } from '../plan/config-source.js';
import { readJsonObject } from './json-file.js';

/** The files of a model's folder that say something about text, besides tokenizer and templates; null: not there. */
export interface TextConfigs {
  readonly config: RawConfig | null;
  readonly generationConfig: RawConfig | null;
  readonly tokenizerConfig: RawConfig | null;
  /** `vocab_size` of the model, if the config says it where most do. */
  readonly rows: number | null;
}

/** Throws KVAD_E_TEXT_FILE. */
export const readTextConfigs = async (directory: string): Promise<TextConfigs> => {
  const [config, generationConfig, tokenizerConfig] = await Promise.all([
    readJsonObject(directory, 'config.json'),
    readJsonObject(directory, 'generation_config.json'),
    readJsonObject(directory, 'tokenizer_config.json'),
  ]);
  return { config, generationConfig, tokenizerConfig, rows: vocabularyRows(config) };
};

const vocabularyRows = (config: RawConfig | null): number | null => {
  const text = config?.['text_config'];
  const rows = (isObject(text) ? text['vocab_size'] : undefined) ?? config?.['vocab_size'];
  return typeof rows === 'number' && Number.isSafeInteger(rows) && rows > 0 ? rows : null;
};
