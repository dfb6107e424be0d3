import type { Json } from './folders.js';

/** An added token with the usual flags. */
export const added = (id: number, content: string, flags: Json = {}): Json => ({
  ...{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true },
  ...flags,
});

const frame = (parts: Json): Json => ({
  ...{ version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null },
  ...{ pre_tokenizer: null, post_processor: null, decoder: null },
  ...parts,
});

const PIECES = ['▁', 'e', 'a', 'n', 't', '▁t', 'en', '▁ten', '▁▁', '\uFFFD', '你', '.', 's'];
const BYTE_TOKENS = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);

/** SentencePiece BPE with byte fallback: `<unk> <s> </s>`, 256 byte tokens from id 3, then pieces; BOS put first. */
export const byteFallbackTokenizer = (): Json =>
  frame({
    added_tokens: [added(0, '<unk>'), added(1, '<s>'), added(2, '</s>')],
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'Prepend', prepend: '▁' },
        { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
      ],
    },
    post_processor: {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
      pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
      special_tokens: { '<s>': { id: '<s>', ids: [1], tokens: ['<s>'] } },
    },
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        { type: 'Strip', content: ' ', start: 1, stop: 0 },
      ],
    },
    model: {
      ...{ type: 'BPE', dropout: null, unk_token: '<unk>', continuing_subword_prefix: null, end_of_word_suffix: null },
      ...{ fuse_unk: true, byte_fallback: true, ignore_merges: false },
      vocab: Object.fromEntries(['<unk>', '<s>', '</s>', ...BYTE_TOKENS, ...PIECES].map((token, id) => [token, id])),
      merges: ['▁ t', 'e n', '▁t en', '▁ ▁'],
    },
  });

/** Ids 3 + b are bytes there. */
export const byteId = (byte: number): number => 3 + byte;
export const BYTE_FALLBACK_SIZE = 3 + 256 + PIECES.length;

/** WordPiece: pieces that continue a word begin with `##`; decoding tidies spaces before punctuation. */
export const wordPieceTokenizer = (): Json =>
  frame({
    added_tokens: [added(0, '[UNK]'), added(1, '[CLS]'), added(2, '[SEP]')],
    pre_tokenizer: { type: 'BertPreTokenizer' },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      ...{ type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100 },
      vocab: Object.fromEntries(
        ['[UNK]', '[CLS]', '[SEP]', 'fox', 'lan', '##tern', '.', ',', '##s', "'", 'n', '##t', '你'].map((t, id) => [
          t,
          id,
        ]),
      ),
    },
  });

/** Unigram with Metaspace. */
export const unigramTokenizer = (): Json =>
  frame({
    added_tokens: [added(0, '<unk>'), added(1, '</s>')],
    pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
    decoder: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
    model: {
      ...{ type: 'Unigram', unk_id: 0, byte_fallback: false },
      vocab: [
        ...[
          ['<unk>', 0],
          ['</s>', 0],
          ['▁', -2],
          ['▁fox', -3],
          ['f', -5],
          ['o', -5],
          ['x', -5],
          ['▁▁', -4],
        ],
        ...[
          ['你', -6],
          ['s', -4],
        ],
      ],
    },
  });

/** Words joined by spaces: no decoder at all. */
export const wordLevelTokenizer = (): Json =>
  frame({
    added_tokens: [added(3, '<end>')],
    pre_tokenizer: { type: 'WhitespaceSplit' },
    model: { type: 'WordLevel', unk_token: 'a', vocab: { a: 0, fox: 1, lantern: 2 } },
  });
