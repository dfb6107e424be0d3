import { join } from 'node:path';
import { KvadError } from '../../errors/kvad-error.js';
import type { RawConfig } from '../../plan/config-source.js';
import { readJsonObject, readTextFile } from '../json-file.js';

/** A tokenizer.json that was put together, and what a tokenizer of its class has where its config says nothing. */
export interface AssembledTokenizer {
  readonly text: string;
  /** File names. */
  readonly name: string;
  /** tokenizer_config.json with the tokens that the class has by itself. */
  readonly config: RawConfig;
}

/**
 * The tokenizer.json that a byte-level vocab.json and its merges.txt stand for. The two files do not say how a text is cut
 * before merges are applied: `tokenizer_class` of tokenizer_config.json does, if it is one whose rules are known.
 * null: the files are not there, or the class is another. Throws KVAD_E_TEXT_FILE, KVAD_E_TOKENIZER_INVALID.
 */
export const assembleTokenizer = async (
  directory: string,
  config: RawConfig | null,
): Promise<AssembledTokenizer | null> => {
  const rules = RULES.get(String(config?.['tokenizer_class']).replace(/Fast$/, ''));
  if (config === null || rules === undefined) return null;
  const [vocabulary, merges] = await Promise.all([
    readJsonObject(directory, VOCABULARY),
    readTextFile(directory, MERGES),
  ]);
  if (vocabulary === null || merges === null) return null;
  const whole = { ...rules.tokens, ...config };
  const tokenizer = {
    version: '1.0',
    ...{ truncation: null, padding: null, added_tokens: [] },
    ...rules.parts(config['add_prefix_space'] === true),
    post_processor: postProcessor(whole, vocabulary),
    decoder: BYTE_LEVEL,
    model: {
      ...{ type: 'BPE', dropout: null, unk_token: null, fuse_unk: false, byte_fallback: false, ignore_merges: false },
      ...{ continuing_subword_prefix: '', end_of_word_suffix: '' },
      vocab: vocabulary,
      merges: pairs(merges, join(directory, MERGES)),
    },
  };
  return { text: JSON.stringify(tokenizer), name: `${VOCABULARY} + ${MERGES}`, config: whole };
};

const VOCABULARY = 'vocab.json';
const MERGES = 'merges.txt';

/** `#version: …`, then two tokens a line. */
const pairs = (text: string, file: string): string[][] => {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines.flatMap((line, index) => {
    if (line.startsWith('#version')) return [];
    const pair = line.split(' ');
    if (pair.length === 2) return [pair];
    const reason = `line ${index + 1} is ${JSON.stringify(line.slice(0, 80))}, not two tokens`;
    throw new KvadError('KVAD_E_TOKENIZER_INVALID', { file, reason });
  });
};

const BYTE_LEVEL = { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true };

interface Rules {
  parts(prefixSpace: boolean): { readonly normalizer: object | null; readonly pre_tokenizer: object };
  readonly tokens: RawConfig;
}

const END = '<|endoftext|>';

const WORDS =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/** By class of transformers 5.24, without `Fast`. Held by ids that its classes gave (test/fixtures/assembled-tokenizers). */
const RULES: ReadonlyMap<string, Rules> = new Map<string, Rules>([
  [
    'GPT2Tokenizer',
    {
      parts: (prefixSpace) => ({
        normalizer: null,
        pre_tokenizer: { ...BYTE_LEVEL, add_prefix_space: prefixSpace },
      }),
      tokens: { unk_token: END, bos_token: END, eos_token: END },
    },
  ],
  [
    'Qwen2Tokenizer',
    {
      parts: (prefixSpace) => ({
        normalizer: { type: 'NFC' },
        pre_tokenizer: {
          type: 'Sequence',
          pretokenizers: [
            { type: 'Split', pattern: { Regex: WORDS }, behavior: 'Isolated', invert: false },
            { ...BYTE_LEVEL, add_prefix_space: prefixSpace, use_regex: false },
          ],
        },
      }),
      tokens: { unk_token: END, eos_token: END, pad_token: END },
    },
  ],
]);

/** BOS before and EOS behind a text, if the config asks for them and the vocabulary has them. */
const postProcessor = (config: RawConfig, vocabulary: RawConfig): object | null => {
  const special: Record<string, object> = {};
  const piece = (role: 'bos' | 'eos', type: number): object[] => {
    const token = contentOf(config[`${role}_token`]);
    const id = token === null ? undefined : vocabulary[token];
    if (config[`add_${role}_token`] !== true || token === null || typeof id !== 'number') return [];
    special[token] = { id: token, ids: [id], tokens: [token] };
    return [{ SpecialToken: { id: token, type_id: type } }];
  };
  const text = (id: 'A' | 'B', type: number): object[] => [
    ...piece('bos', type),
    { Sequence: { id, type_id: type } },
    ...piece('eos', type),
  ];
  const single = text('A', 0);
  const pair = [...single, ...text('B', 1)];
  return single.length === 1 ? null : { type: 'TemplateProcessing', single, pair, special_tokens: special };
};

const contentOf = (token: unknown): string | null => {
  const content = token !== null && typeof token === 'object' ? (token as RawConfig)['content'] : token;
  return typeof content === 'string' && content !== '' ? content : null;
};
