/**
 * Pre-tokenizer patterns of published tokenizers, by their exact text. Each is known to take time in proportion to the
 * text; a pattern that is not among them is tried out in a process of its own first.
 */
const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const UPPER = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]';
const LOWER = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';
const NO_LETTER = '[^\\r\\n\\p{L}\\p{N}]?';
const SPACES = '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
const SYMBOLS = ' ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*';
const SYMBOLS_AND_SLASH = ' ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*';

const words = (digits: string): string => `${CONTRACTIONS}|${NO_LETTER}\\p{L}+|${digits}|${SYMBOLS}|${SPACES}`;

const casedWords = (digits: string, contractions: string): string =>
  `${NO_LETTER}${UPPER}*${LOWER}+${contractions}|${NO_LETTER}${UPPER}+${LOWER}*${contractions}|${digits}|${SYMBOLS_AND_SLASH}|${SPACES}`;

const PATTERNS: ReadonlySet<string> = new Set([
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
  words('\\p{N}'),
  words('\\p{N}{1,3}'),
  casedWords('\\p{N}', ''),
  casedWords('\\p{N}{1,3}', ''),
  casedWords('\\p{N}{1,3}', `${CONTRACTIONS}?`),
  '\\p{N}{1,3}',
  '\\p{N}',
  '[0-9][0-9][0-9]',
  '[\\r\\n]',
  '\\s?\\p{L}+',
  '\\s?\\p{P}+',
  '\\s+$',
  ' {2,}',
  '[一-龥\u3040-ゟ゠-ヿ]+',
  '[一-龥ࠀ-一가-\ud7ff]+',
  '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+',
  ' ?[^(\\s|[.,!?…。，、।۔،])]+',
]);

export const isKnownPattern = (pattern: string): boolean => PATTERNS.has(pattern);
