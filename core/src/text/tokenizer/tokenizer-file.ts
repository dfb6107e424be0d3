import { isObject, type RawConfig } from '../../plan/config-source.js';
import { isNothing } from '../json-file.js';
import type { AddedTokenFlags } from '../special-tokens.js';
import { charsmapFault } from './charsmap.js';
import { isKnownPattern } from './known-patterns.js';
import { readOutline, type Cut } from './outline.js';
import { isTokenId } from './token-id.js';

/** What is wrong with a tokenizer.json: `model.dropout is 0.1: …`. */
export class TokenizerFault extends Error {}

/** What there is to know of a tokenizer.json before the library gets it. */
export interface TokenizerFacts {
  readonly added: readonly AddedToken[];
  /** Tokens that are bytes: every one (byte-level), some (`<0xE4>`), or none. */
  readonly bytes: 'all' | 'some' | 'none';
  /** Why the file is tried in a process of its own first; empty: each of its parts is known to be sound. */
  readonly doubts: readonly string[];
  /** Patterns that are not known. */
  readonly patterns: readonly string[];
  /** Where its merges stand; null: it has none. */
  readonly merges: Cut | null;
}

/**
 * Checks the bytes of a tokenizer.json for what the tokenizers library does not check, and which would end the process in
 * the middle of a text, or give other ids each time. What the library checks itself is left to it.
 * Throws TokenizerFault.
 */
export const checkTokenizer = (bytes: Uint8Array): TokenizerFacts => {
  const { outline, sharedId, merges } = readOutline(bytes);
  const file = parsed(outline);
  const model = file['model'];
  if (!isObject(model)) throw new TokenizerFault('"model" is missing');
  if (!isObject(model['vocab']) && !Array.isArray(model['vocab'])) throw new TokenizerFault('"model.vocab" is missing');
  if (typeof model['dropout'] === 'number' && model['dropout'] > 0) {
    throw new TokenizerFault(`"model.dropout" is ${model['dropout']}: the same text would give other ids each time`);
  }
  if (sharedId !== null) throw new TokenizerFault(`two tokens of "model.vocab" have the id ${sharedId}`);
  const added = addedTokens(file['added_tokens']);
  const doubts = new Set<string>();
  const patterns = new Set<string>();
  if (typeof model['continuing_subword_prefix'] === 'string' && model['continuing_subword_prefix'] !== '') {
    if (model['type'] !== 'WordPiece') doubts.add('model.continuing_subword_prefix');
  }
  for (const section of SECTIONS) {
    for (const { part, path } of partsOf(file[section], section)) {
      const pattern = checkPart(part, path);
      if (pattern !== null && !isKnownPattern(pattern)) patterns.add(pattern);
      if (!KNOWN_PARTS.has(String(part['type']))) doubts.add(`${path}.type ${JSON.stringify(part['type'])}`);
    }
  }
  for (const pattern of patterns) doubts.add(`the pattern ${pattern}`);
  return {
    added,
    bytes: byteTokens(file['decoder']),
    doubts: [...doubts],
    patterns: [...patterns],
    merges,
  };
};

const parsed = (text: string): RawConfig => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new TokenizerFault((error as Error).message, { cause: error });
  }
  if (!isObject(value)) throw new TokenizerFault('it does not hold a JSON object');
  return value;
};

const SECTIONS = ['normalizer', 'pre_tokenizer', 'post_processor', 'decoder'] as const;

/** Parts that do their work on any text once their options have been checked. */
const KNOWN_PARTS: ReadonlySet<string> = new Set([
  ...['NFC', 'NFD', 'NFKC', 'NFKD', 'Lowercase', 'StripAccents', 'Nmt', 'BertNormalizer', 'Prepend', 'Precompiled'],
  ...['ByteLevel', 'Metaspace', 'Whitespace', 'WhitespaceSplit', 'BertPreTokenizer', 'Digits', 'Punctuation'],
  ...['Split', 'CharDelimiterSplit', 'UnicodeScripts', 'TemplateProcessing', 'BertProcessing', 'RobertaProcessing'],
  ...['WordPiece', 'BPEDecoder', 'CTC', 'Replace', 'Fuse', 'Strip', 'ByteFallback', 'Sequence'],
]);

type AddedToken = AddedTokenFlags & { readonly id: number };

const addedTokens = (value: unknown): readonly AddedToken[] => {
  if (isNothing(value)) return [];
  if (!Array.isArray(value)) throw new TokenizerFault('"added_tokens" is not a list');
  const contents = new Map<number, string>();
  return value.map((token: unknown, index) => {
    const path = `added_tokens[${index}]`;
    if (!isObject(token)) throw new TokenizerFault(`"${path}" is not an object`);
    const { id, content } = token;
    if (!isTokenId(id)) throw new TokenizerFault(`"${path}.id" is ${JSON.stringify(id)}, not a token id`);
    if (typeof content !== 'string' || content === '') throw new TokenizerFault(`"${path}.content" is empty`);
    const other = contents.get(id) ?? content;
    if (other !== content) {
      throw new TokenizerFault(`"${path}.id" is ${id}, which ${JSON.stringify(other)} has as well`);
    }
    contents.set(id, content);
    return {
      ...{ id, content, special: token['special'] === true, normalized: token['normalized'] === true },
      single_word: token['single_word'] === true,
      lstrip: token['lstrip'] === true,
      rstrip: token['rstrip'] === true,
    };
  });
};

interface PartAt {
  readonly part: RawConfig;
  readonly path: string;
}

const LISTS = ['normalizers', 'pretokenizers', 'processors', 'decoders'] as const;
const DEEPEST = 16;

/** A section's parts, those inside sequences too. */
const partsOf = (section: unknown, path: string, depth = 0): readonly PartAt[] => {
  if (isNothing(section)) return [];
  if (!isObject(section)) throw new TokenizerFault(`"${path}" is not an object`);
  if (depth > DEEPEST) throw new TokenizerFault(`"${path}" is nested more than ${DEEPEST} deep`);
  const inner = LISTS.flatMap((list) => {
    const parts: unknown = section[list];
    if (!Array.isArray(parts)) return [];
    return parts.flatMap((part: unknown, index) => partsOf(part, `${path}.${list}[${index}]`, depth + 1));
  });
  return [{ part: section, path }, ...inner];
};

/** Checks a part's options; returns its pattern if it has one. */
const checkPart = (part: RawConfig, path: string): string | null => {
  switch (part['type']) {
    case 'Precompiled': {
      const fault = charsmapFault(part['precompiled_charsmap']);
      if (fault !== null) throw new TokenizerFault(`"${path}.precompiled_charsmap" ${fault}`);
      return null;
    }
    case 'TemplateProcessing':
      checkTemplate(part, path);
      return null;
    case 'FixedLength':
      if (part['length'] === 0) throw new TokenizerFault(`"${path}.length" is 0`);
      return null;
    case 'Strip':
      // The library steps back from the end of an empty token, out of it.
      if (typeof part['stop'] === 'number' && part['stop'] > 0) throw new TokenizerFault(`"${path}.stop" is not 0`);
      return null;
    case 'Split':
    case 'Replace':
      return checkPattern(part['pattern'], `${path}.pattern`);
    default:
      return null;
  }
};

const checkPattern = (pattern: unknown, path: string): string | null => {
  if (!isObject(pattern)) throw new TokenizerFault(`"${path}" is missing`);
  const { String: literal, Regex: regex } = pattern;
  if (literal === '' || regex === '') throw new TokenizerFault(`"${path}" is empty`);
  return typeof regex === 'string' ? regex : null;
};

/** Every special token of a template must be in its own table, with an id for each of its tokens. */
const checkTemplate = (part: RawConfig, path: string): void => {
  const table = part['special_tokens'];
  for (const list of ['single', 'pair']) {
    const pieces = part[list];
    if (!Array.isArray(pieces)) throw new TokenizerFault(`"${path}.${list}" is not a list`);
    for (const piece of pieces as readonly unknown[]) {
      const { SpecialToken: special, Sequence: sequence } = isObject(piece) ? piece : {};
      if (list === 'single' && isObject(sequence) && sequence['id'] !== 'A') {
        throw new TokenizerFault(`"${path}.single" has a second text`);
      }
      if (special === undefined) continue;
      const name = isObject(special) ? special['id'] : undefined;
      if (typeof name !== 'string' || !isObject(table) || !Object.hasOwn(table, name)) {
        throw new TokenizerFault(`"${path}.${list}" has ${JSON.stringify(name)}, "special_tokens" does not`);
      }
      const entry = table[name];
      const { ids, tokens } = isObject(entry) ? entry : {};
      if (!Array.isArray(ids) || !Array.isArray(tokens) || ids.length !== tokens.length || !ids.every(isTokenId)) {
        throw new TokenizerFault(`"${path}.special_tokens" has no ids for ${JSON.stringify(name)}`);
      }
    }
  }
};

const byteTokens = (decoder: unknown): TokenizerFacts['bytes'] => {
  const types = partsOf(decoder, 'decoder')
    .map(({ part }) => part['type'])
    .filter((type) => type !== 'Sequence');
  if (types.length === 1 && types[0] === 'ByteLevel') return 'all';
  return types.includes('ByteFallback') ? 'some' : 'none';
};
