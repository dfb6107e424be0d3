import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { KvadError } from '../../errors/kvad-error.js';
import { isObject, type RawConfig } from '../../plan/config-source.js';
import { isNothing, readJsonObject, readTextFile } from '../json-file.js';

/** Chat templates of a model: text by name. */
export interface FoundTemplates {
  /** File name as users know it. */
  readonly source: string;
  /** Path of that file. */
  readonly file: string;
  readonly templates: ReadonlyMap<string, string>;
}

const TEMPLATE_FILE = 'chat_template.jinja';
const TEMPLATE_FOLDER = 'additional_chat_templates';
const PROCESSOR_FILE = 'chat_template.json';

/**
 * Looks where transformers 5.24 looks, in its order: files of their own (`chat_template.jinja`, and by name in
 * `additional_chat_templates/`) replace what tokenizer_config.json has (a string, or a list of named ones); last the
 * file that processors of models with images used to have, chat_template.json. null: a base model.
 * Throws KVAD_E_TEXT_FILE and KVAD_E_TEXT_VALUE.
 */
export const findTemplates = async (directory: string, config: RawConfig | null): Promise<FoundTemplates | null> =>
  (await ownFiles(directory)) ?? fromTokenizerConfig(directory, config) ?? (await fromProcessorFile(directory));

const ownFiles = async (directory: string): Promise<FoundTemplates | null> => {
  const templates = new Map<string, string>();
  const main = await readTextFile(directory, TEMPLATE_FILE);
  if (main !== null) templates.set('default', main);
  const folder = join(directory, TEMPLATE_FOLDER);
  const others = await readdir(folder).catch(() => []); // no such folder: most models have none
  for (const other of others.filter((name) => name.endsWith('.jinja')).sort()) {
    const text = await readTextFile(folder, other);
    if (text !== null) templates.set(other.slice(0, -'.jinja'.length), text);
  }
  if (templates.size === 0) return null;
  const source = main === null ? TEMPLATE_FOLDER : TEMPLATE_FILE;
  return { source, file: join(directory, source), templates };
};

const fromTokenizerConfig = (directory: string, config: RawConfig | null): FoundTemplates | null => {
  const source = 'tokenizer_config.json';
  const file = join(directory, source);
  const value = config?.['chat_template'];
  if (isNothing(value)) return null;
  if (typeof value === 'string') return { source, file, templates: new Map([['default', value]]) };
  const named: [unknown, unknown][] = Array.isArray(value)
    ? value.map((one: unknown) => (isObject(one) ? [one['name'], one['template']] : [null, null]))
    : Object.entries(isObject(value) ? value : {});
  const templates = new Map<string, string>();
  for (const [name, text] of named) if (typeof name === 'string' && typeof text === 'string') templates.set(name, text);
  if (templates.size === 0 || templates.size < named.length) {
    const expected = 'a text, or a list of templates with "name" and "template"';
    throw new KvadError('KVAD_E_TEXT_VALUE', { file, key: 'chat_template', value, expected });
  }
  return { source, file, templates };
};

const fromProcessorFile = async (directory: string): Promise<FoundTemplates | null> => {
  const file = join(directory, PROCESSOR_FILE);
  const value = (await readJsonObject(directory, PROCESSOR_FILE))?.['chat_template'];
  if (isNothing(value)) return null;
  if (typeof value !== 'string') {
    throw new KvadError('KVAD_E_TEXT_VALUE', { file, key: 'chat_template', value, expected: 'a text' });
  }
  return { source: PROCESSOR_FILE, file, templates: new Map([['default', value]]) };
};
