import { loadText } from '@kvad/core';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { outline } from '../../../core/dist/text/tokenizer/outline.js';
import { BUNDLED, bundledTokenizer, errorOf, folderOf, type Json } from './folders.js';
import { added, byteFallbackTokenizer } from './vocabularies.js';

type Spoilt = ReturnType<typeof bundledTokenizer>;

const load = (spoil: (tokenizer: Spoilt) => void): Promise<unknown> => {
  const tokenizer = bundledTokenizer();
  spoil(tokenizer);
  return loadText(folderOf({ 'tokenizer.json': tokenizer }));
};

const split = (regex: string): Json => ({
  type: 'Sequence',
  pretokenizers: [
    { type: 'Split', pattern: { Regex: regex }, behavior: 'Isolated', invert: false },
    { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
  ],
});

const template = (single: readonly Json[], specialTokens: Json): Json => ({
  ...{
    type: 'TemplateProcessing',
    single,
    pair: [{ Sequence: { id: 'A', type_id: 0 } }],
    special_tokens: specialTokens,
  },
});
const BOS = { SpecialToken: { id: '<s>', type_id: 0 } };
const TEXT = { Sequence: { id: 'A', type_id: 0 } };

/** u32 length, trie, texts. */
const charsmap = (trie: readonly number[], texts: Buffer): string => {
  const head = Buffer.alloc(4 + trie.length * 4);
  head.writeUInt32LE(trie.length * 4, 0);
  trie.forEach((unit, index) => head.writeUInt32LE(unit >>> 0, 4 + index * 4));
  return Buffer.concat([head, texts]).toString('base64');
};
const precompiled = (map: string): Json => ({ type: 'Precompiled', precompiled_charsmap: map });

let deep: Json = { type: 'NFC' };
for (let level = 0; level < 20; level++) deep = { type: 'Sequence', normalizers: [deep] };

/** Each would end the process inside the library, or say nothing; `says` is what a user is told. */
const SPOILT: readonly { what: string; says: string; spoil: (tokenizer: Spoilt) => void }[] = [
  { what: 'no model', says: '"model" is missing', spoil: (t) => void Reflect.deleteProperty(t, 'model') },
  {
    what: 'no vocabulary',
    says: '"model.vocab" is missing',
    spoil: (t) => void Reflect.deleteProperty(t.model, 'vocab'),
  },
  {
    what: 'a merge of unknown tokens',
    says: 'Token `zzz` out of vocabulary',
    spoil: (t) => void (t.model['merges'] as unknown[]).push(['zzz', 'q']),
  },
  { what: 'a negative id', says: 'integer `-1`', spoil: (t) => void ((t.model['vocab'] as Json)['x'] = -1) },
  {
    what: 'an id that two tokens of the vocabulary have',
    says: 'two tokens of "model.vocab" have the id 7',
    spoil: (t) => void ((t.model['vocab'] as Json)['zzz'] = 7),
  },
  {
    what: 'an id that two added tokens have',
    says: '"added_tokens[3].id" is 2, which "<|im_end|>" has as well',
    spoil: (t) => void t.added_tokens.push(added(2, '<x>')),
  },
  { what: 'random dropout', says: '"model.dropout" is 0.1', spoil: (t) => void (t.model['dropout'] = 0.1) },
  {
    what: 'an added token without content',
    says: '"added_tokens[0].content" is empty',
    spoil: (t) => void (t.added_tokens[0] = added(0, '')),
  },
  {
    what: 'an added token with an id of 2^31',
    says: '"added_tokens[0].id" is 2147483648',
    spoil: (t) => void (t.added_tokens[0] = added(2 ** 31, '<x>')),
  },
  {
    what: 'an unknown normalizer',
    says: 'normalizer.type "Foo": data did not match',
    spoil: (t) => void (t['normalizer'] = { type: 'Foo' }),
  },
  {
    what: 'a pattern that is no pattern',
    says: 'unmatched parenthesis',
    spoil: (t) => void (t['pre_tokenizer'] = split('(a')),
  },
  {
    what: 'a pattern that never ends',
    says: 'the pattern ^(a+)+$: Onig: Regex search error: retry-limit-in-match over',
    spoil: (t) => void (t['pre_tokenizer'] = split('^(a+)+$')),
  },
  { what: 'an empty pattern', says: 'pattern" is empty', spoil: (t) => void (t['pre_tokenizer'] = split('')) },
  {
    what: 'a replacement of nothing',
    says: '"normalizer.pattern" is empty',
    spoil: (t) => void (t['normalizer'] = { type: 'Replace', pattern: { String: '' }, content: 'x' }),
  },
  {
    what: 'a template with a token that its table lacks',
    says: '"post_processor.single" has "<s>", "special_tokens" does not',
    spoil: (t) => void (t['post_processor'] = template([BOS, TEXT], {})),
  },
  {
    what: 'one inside a sequence',
    says: '"post_processor.processors[0].single" has "<s>"',
    spoil: (t) => void (t['post_processor'] = { type: 'Sequence', processors: [template([BOS], {})] }),
  },
  {
    what: 'a template with fewer ids than tokens',
    says: 'has no ids for "<s>"',
    spoil: (t) => void (t['post_processor'] = template([BOS], { '<s>': { id: '<s>', ids: [], tokens: ['<s>'] } })),
  },
  {
    what: 'a template for one text that has two',
    says: '"post_processor.single" has a second text',
    spoil: (t) => void (t['post_processor'] = template([TEXT, { Sequence: { id: 'B', type_id: 1 } }], {})),
  },
  {
    what: 'a decoder that strips ends',
    says: '"decoder.stop" is not 0',
    spoil: (t) => void (t['decoder'] = { type: 'Strip', content: ' ', start: 0, stop: 1 }),
  },
  {
    what: 'pieces of length 0',
    says: '"pre_tokenizer.length" is 0',
    spoil: (t) => void (t['pre_tokenizer'] = { type: 'FixedLength', length: 0 }),
  },
  { what: 'parts nested too deep', says: 'nested more than 16 deep', spoil: (t) => void (t['normalizer'] = deep) },
  {
    what: 'a charsmap that is no base64',
    says: 'is not base64',
    spoil: (t) => void (t['normalizer'] = precompiled('@@')),
  },
  { what: 'an empty charsmap', says: 'has 0 bytes', spoil: (t) => void (t['normalizer'] = precompiled('')) },
  {
    what: 'a charsmap that is cut',
    says: 'declares a trie of 536870911 units',
    spoil: (t) =>
      void (t['normalizer'] = precompiled(Buffer.from([255, 255, 255, 127, 1, 2, 3, 4]).toString('base64'))),
  },
  {
    what: 'a charsmap whose trie leads outside',
    says: 'leads out of itself',
    spoil: (t) => void (t['normalizer'] = precompiled(charsmap([0xffffffff, 0], Buffer.from('x\0')))),
  },
  {
    what: 'a charsmap with texts that are no UTF-8',
    says: 'not UTF-8',
    spoil: (t) => void (t['normalizer'] = precompiled(charsmap([0], Buffer.from([255, 254, 0, 0])))),
  },
];

describe('a tokenizer.json that cannot be used', () => {
  it.each(SPOILT)('$what is refused', async ({ says, spoil }) => {
    const error = await errorOf(() => load(spoil));
    expect(error.code).toBe('KVAD_E_TOKENIZER_INVALID');
    expect(error.message).toContain(says);
    expect(error.message).toContain('tokenizer.json');
  });

  it.each([
    { what: 'empty', content: '', says: 'Unexpected end of JSON input' },
    { what: 'cut in the middle', content: '{"model": {"vocab": {"a": 1, "b', says: 'JSON' },
    { what: 'a web page', content: '<!DOCTYPE html>', says: 'not valid JSON' },
    { what: 'a list', content: '[]', says: 'does not hold a JSON object' },
  ])('$what is refused', async ({ content, says }) => {
    const error = await errorOf(() => loadText(folderOf({ 'tokenizer.json': content })));
    expect(error.code).toBe('KVAD_E_TOKENIZER_INVALID');
    expect(error.message).toContain(says);
  });
});

describe('a tokenizer.json that can be used', () => {
  it('may begin with a byte order mark', async () => {
    const folder = folderOf({ 'tokenizer.json': `\uFEFF${JSON.stringify(bundledTokenizer())}` });
    const plain = await loadText(folderOf({ 'tokenizer.json': bundledTokenizer() }));
    expect(await (await loadText(folder)).encodeText('Once')).toEqual(await plain.encodeText('Once'));
  });

  it('with a pattern that nobody knows is tried in another process, and then loaded', async () => {
    const tokenizer = { ...bundledTokenizer(), pre_tokenizer: split('[a-z]+|.') };
    const text = await loadText(folderOf({ 'tokenizer.json': tokenizer }));
    expect(await text.tokenizer.encode('fox', { special: false })).toEqual(
      await (await loadText(BUNDLED)).encodeText('fox'),
    );
  });

  it('cuts and pads nothing, whatever the file says', async () => {
    const tokenizer = {
      ...bundledTokenizer(),
      truncation: { direction: 'Right', max_length: 4, strategy: 'LongestFirst', stride: 8 },
      padding: {
        ...{ strategy: { Fixed: 64 }, direction: 'Right', pad_to_multiple_of: null },
        ...{ pad_id: 0, pad_type_id: 0, pad_token: 'x' },
      },
    };
    const text = await loadText(folderOf({ 'tokenizer.json': tokenizer }));
    const sample = 'Once upon a time there was a fox';
    const expected = await (await loadText(BUNDLED)).tokenizer.encode(sample, { special: true });
    expect(await text.tokenizer.encode(sample, { special: true })).toEqual(expected);
  });
});

interface Reference {
  readonly short_prompt: string;
  readonly short_ids: readonly number[];
  readonly greedy_ids: readonly number[];
  readonly greedy_text: string;
}

describe('the bundled tokenizer', () => {
  let text: Awaited<ReturnType<typeof loadText>>;
  beforeAll(async () => {
    text = await loadText(BUNDLED);
  });

  it('gives the ids of its reference', async () => {
    const file = new URL('../../fixtures/bundled/reference.json', import.meta.url);
    const reference = JSON.parse(readFileSync(file, 'utf8')) as Reference;
    expect(await text.encodeText(reference.short_prompt)).toEqual(reference.short_ids);
    expect(await text.tokenizer.decode(reference.greedy_ids, { skipSpecial: true })).toBe(reference.greedy_text);
  });

  it('brings any text back', async () => {
    const file = new URL('../../fixtures/bundled/sample-heldout.txt', import.meta.url);
    for (const sample of [
      readFileSync(file, 'utf8').slice(0, 20_000),
      'ΟΔΟΣ İ ½ \u0085\uFEFF 👨‍👩‍👧 \0 한국어',
      '',
      ' '.repeat(1000),
    ]) {
      expect(await text.tokenizer.decode(await text.encodeText(sample), { skipSpecial: false })).toBe(sample);
    }
  });

  it('takes a lone surrogate for U+FFFD', async () => {
    const ids = await text.encodeText('a\uD800b');
    expect(ids).toEqual(await text.encodeText('a\uFFFDb'));
  });

  it('finds special tokens written in the text', async () => {
    expect(await text.encodeRendered('<|im_start|>')).toEqual([1]);
    expect([text.tokenizer.tokenOf(1), text.tokenizer.idOf('<|im_start|>')]).toEqual(['<|im_start|>', 1]);
    expect([text.tokenizer.tokenOf(5000), text.tokenizer.idOf('no such token')]).toEqual([null, null]);
  });

  it.each([-1, 1.5, 2048, 2 ** 31, 2 ** 32, Number.NaN])('refuses the id %d', async (id) => {
    const stream = text.tokenizer.stream({ skipSpecial: true });
    for (const action of [() => text.tokenizer.decode([id], { skipSpecial: true }), () => stream.push(id)]) {
      expect((await errorOf(action)).code).toBe('KVAD_E_TOKEN_ID');
    }
  });

  it('a hundred thousand letters, and as many spaces, are encoded', async () => {
    expect(await text.encodeText('a'.repeat(100_000))).not.toHaveLength(0);
    expect(await text.encodeText(' '.repeat(100_000))).not.toHaveLength(0);
  });
});

describe('rows of the model and tokens of the tokenizer', () => {
  it('ids beyond the tokenizer, of rows that only fill up, have no text', async () => {
    const folder = folderOf({ 'tokenizer.json': bundledTokenizer(), 'config.json': { vocab_size: 2100 } });
    const { tokenizer } = await loadText(folder);
    expect(await tokenizer.decode([2099, 471], { skipSpecial: true })).toBe('Once');
    expect(tokenizer.stream({ skipSpecial: true }).push(2099)).toBe('');
    expect((await errorOf(() => tokenizer.decode([2100], { skipSpecial: true }))).code).toBe('KVAD_E_TOKEN_ID');
  });

  it('a text with a token beyond the rows of the model is refused', async () => {
    const config = { text_config: { vocab_size: 400 }, vocab_size: 9999 };
    const folder = folderOf({ 'tokenizer.json': bundledTokenizer(), 'config.json': config });
    const { tokenizer } = await loadText(folder);
    const error = await errorOf(() => tokenizer.encode('Once', { special: false }));
    expect(error.message).toContain('token id 471 is outside the vocabulary of 400');
  });
});

describe('a folder without tokenizer.json', () => {
  it('loads, and says which files are there when text is needed', async () => {
    const text = await loadText(folderOf({ 'tokenizer.model': 'spm', 'config.json': { eos_token_id: 2 } }));
    expect(text.facts).toMatchObject({ tokenizer: null, bos: null, eos: [{ id: 2, token: null }] });
    for (const action of [() => text.encodeText('a'), () => text.tokenizer.stream({ skipSpecial: true })]) {
      const error = await errorOf(action);
      expect(error.code).toBe('KVAD_E_TOKENIZER_MISSING');
      expect(error.message).toContain('it has config.json, tokenizer.model');
      expect(error.hint).toContain('save_pretrained');
    }
  });

  it('that is not there is said to be empty or absent', async () => {
    const text = await loadText('/nowhere/at/all');
    expect((await errorOf(() => text.encodeText('a'))).message).toContain('empty or absent');
  });
});

describe('the outline of a tokenizer.json', () => {
  it('is the file with the vocabulary and the merges emptied', () => {
    for (const tokenizer of [bundledTokenizer(), byteFallbackTokenizer()]) {
      for (const text of [JSON.stringify(tokenizer), JSON.stringify(tokenizer, null, 2)]) {
        const model = tokenizer['model'] as Json;
        expect(JSON.parse(outline(Buffer.from(text)))).toEqual({
          ...tokenizer,
          model: { ...model, vocab: {}, merges: [] },
        });
      }
    }
  });

  it('is not led astray by quotes, brackets and names inside strings', () => {
    const value = {
      added_tokens: [{ vocab: [1], content: '"model": {"vocab": {' }],
      model: { type: 'a\\', extra: { vocab: [2] }, vocab: { '\\"}': 1, '{"': 2, '\\\\': 3 }, merges: [['"', ']']] },
      vocab: { kept: 1 },
    };
    const expected = { ...value, model: { ...value.model, vocab: {}, merges: [] } };
    expect(JSON.parse(outline(Buffer.from(JSON.stringify(value))))).toEqual(expected);
  });

  it('leaves what is no JSON as it is', () => {
    for (const text of ['', '{', '{"model": {"vocab": 3}}', '"', '"\\', ']]', '{"model":{"merges":7']) {
      expect(outline(Buffer.from(text))).toBe(text);
    }
  });
});

describe('a charsmap', () => {
  it('of one entry normalises', async () => {
    const trie = new Array<number>(512).fill(0); // the children of the root lie at 0 ^ byte
    trie[0x41] = 0x41 | 0x100 | (0x100 << 10); // 'A': its label, that it has a leaf, the offset of that
    trie[0x41 ^ 0x100] = 0x8000_0000; // the leaf: the text at 0
    const tokenizer = { ...bundledTokenizer(), normalizer: precompiled(charsmap(trie, Buffer.from('b\0'))) };
    const text = await loadText(folderOf({ 'tokenizer.json': tokenizer }));
    expect(await text.encodeText('A')).toEqual(await text.encodeText('b'));
  });

  it('with a leaf outside its texts is refused', async () => {
    const trie = new Array<number>(512).fill(0);
    trie[0x41] = 0x41 | 0x100 | (0x100 << 10);
    trie[0x41 ^ 0x100] = 0x8000_0003;
    const error = await errorOf(() =>
      load((t) => void (t['normalizer'] = precompiled(charsmap(trie, Buffer.from('b\0'))))),
    );
    expect(error.message).toContain('has a replacement outside its texts');
  });
});
