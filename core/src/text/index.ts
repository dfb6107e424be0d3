import { join } from 'node:path';
import { isKvadError, type KvadError } from '../errors/kvad-error.js';
import { isObject, type RawConfig } from '../plan/config-source.js';
import type { TextFacts } from '../runtime/types.js';
import { endTokens, type EndSource } from './end-tokens.js';
import { generationDefaults } from './generation-config.js';
import type { SpecialTokens } from './special-tokens.js';
import { findTemplates, type FoundTemplates } from './template/find-template.js';
import { JinjaRenderer } from './template/jinja-renderer.js';
import { readTextConfigs } from './text-configs.js';
import { LoadedTextSide } from './text-side.js';
import type { KeptTokenizer } from './tokenizer/kept-tokenizer.js';
import type { LibraryName } from './tokenizer/library.js';
import { loadTokenizer } from './tokenizer/load-tokenizer.js';
import type { OpenTokenizer } from './tokenizer/thread-tokenizer.js';
import type { Tokenizer } from './types.js';

export interface TextOptions {
  /** A chat template that stands in place of the folder's own. */
  readonly template?: { readonly file: string; readonly text: string };
  /** Which library reads tokenizer.json; absent: the native one, the JavaScript one where that has no binary. */
  readonly tokenizerLibrary?: LibraryName;
  /** For whoever loads one folder again and again. */
  readonly kept?: KeptTokenizer;
  /** Loads the tokenizer; absent: this thread does. */
  readonly openTokenizer?: OpenTokenizer;
}

/**
 * Reads what a model's folder says about text: tokenizer.json, tokenizer_config.json (with special_tokens_map.json of
 * older folders), chat templates, generation_config.json, and the end tokens and vocabulary size of config.json. The
 * weights are not looked at. A folder without tokenizer.json loads; using its tokenizer throws.
 * Throws KVAD_E_TOKENIZER_INVALID, KVAD_E_TEXT_FILE and KVAD_E_TEXT_VALUE.
 */
export const loadText = async (directory: string, options: TextOptions = {}): Promise<LoadedTextSide> => {
  const { config, generationConfig, tokenizerConfig, rows } = await readTextConfigs(directory);
  const generation = generationDefaults(generationConfig, join(directory, 'generation_config.json'));
  const { openTokenizer = openHere(options) } = options;
  const opening = openTokenizer(directory, tokenizerConfig, rows);
  // It is awaited below, unless the template fails first: then that is the error.
  opening.catch(() => undefined);
  const found = givenTemplate(options) ?? (await findTemplates(directory, tokenizerConfig));
  const renderer = found === null ? null : new JinjaRenderer(found, {});
  const faults = renderer === null ? [] : templateFaults(renderer);

  const { tokenizer, tokens, source, warnings } = await opening;
  const hasTokenizer = source !== null;
  const template = renderer?.withTokens(tokens.named) ?? null;

  const eosToken = tokens.named['eos_token'];
  const namedEnd = eosToken === undefined || !hasTokenizer ? null : tokenizer.idOf(eosToken);
  const eos = endTokens(
    [
      ...configSources(directory, 'generation_config.json', generationConfig),
      ...configSources(directory, 'config.json', config),
      { file: join(directory, TOKENIZER_CONFIG), name: TOKENIZER_CONFIG, key: 'eos_token', value: namedEnd },
    ],
    (id) => (hasTokenizer ? tokenizer.tokenOf(id) : null),
  );
  const facts: TextFacts = {
    tokenizer: source,
    template: template?.source ?? null,
    eos,
    bos: hasTokenizer ? await beginning(tokenizer, tokens, new Set(eos.map((end) => end.id))) : null,
    sampling: generation.sampling,
  };
  const findings = [
    ...warnings,
    ...faults,
    ...generation.unapplied.map((key) => `generation_config.json asks for "${key}", which kvad does not apply`),
    ...(eosToken !== undefined && hasTokenizer && namedEnd === null
      ? [`${TOKENIZER_CONFIG} names ${JSON.stringify(eosToken)} as eos_token, which the tokenizer does not have`]
      : []),
  ];
  return new LoadedTextSide({ facts, tokenizer, template, generation, warnings: findings });
};

const TOKENIZER_CONFIG = 'tokenizer_config.json';

const openHere =
  ({ tokenizerLibrary, kept }: TextOptions): OpenTokenizer =>
  (directory, config, rows) =>
    loadTokenizer(directory, config, rows, { library: tokenizerLibrary, kept });

const givenTemplate = ({ template }: TextOptions): FoundTemplates | null =>
  template === undefined
    ? null
    : { source: template.file, file: template.file, templates: new Map([['default', template.text]]) };

const configSources = (directory: string, name: string, config: RawConfig | null): EndSource[] => {
  const file = join(directory, name);
  const text = config?.['text_config'];
  return [
    { file, name, key: 'eos_token_id', value: config?.['eos_token_id'] },
    { file, name, key: 'text_config.eos_token_id', value: isObject(text) ? text['eos_token_id'] : undefined },
  ];
};

/** The token that texts begin with, and whether the tokenizer itself puts it there. */
const beginning = async (
  tokenizer: Tokenizer,
  tokens: SpecialTokens,
  ends: ReadonlySet<number>,
): Promise<TextFacts['bos']> => {
  const [first] = await tokenizer.encode('', { special: true });
  const named = tokens.named['bos_token'] === undefined ? null : tokenizer.idOf(tokens.named['bos_token']);
  if (named !== null) return { id: named, added: first === named };
  return first === undefined || ends.has(first) ? null : { id: first, added: true };
};

/** A template that cannot be parsed does not keep raw text from working: it is refused when it is used. */
const templateFaults = (template: JinjaRenderer): string[] => {
  try {
    template.check();
    return [];
  } catch (error) {
    if (!isKvadError(error)) throw error;
    return [`chats will be refused: ${(error satisfies KvadError).message}`];
  }
};
