import { loadText, type TextSide } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { BUNDLED, bundledTokenizer, errorOf, folderOf, type Files, type Json } from './folders.js';
import { added, byteFallbackTokenizer } from './vocabularies.js';

const load = (files: Files, tokenizer: Json = bundledTokenizer()): Promise<TextSide> =>
  loadText(folderOf({ 'tokenizer.json': tokenizer, ...files }));

const flags = (content: string, more: Json = {}): Json => ({
  ...{ content, lstrip: false, rstrip: false, single_word: false, normalized: false, special: true },
  ...more,
});

/** What transformers 5.24 gives for the same files. */
describe('tokens beside tokenizer.json', () => {
  it('of added_tokens_decoder are added in the order of their ids', async () => {
    const decoder = { 2049: flags('<b>'), 2048: flags('<a>', { special: false, rstrip: true }) };
    const { tokenizer, warnings } = await load({ 'tokenizer_config.json': { added_tokens_decoder: decoder } });
    expect([tokenizer.idOf('<a>'), tokenizer.idOf('<b>')]).toEqual([2048, 2049]);
    const ids = await tokenizer.encode('x<a>  y<b>', { special: false });
    expect(ids).toEqual([90, 2048, 91, 2049]);
    expect(await tokenizer.decode(ids, { skipSpecial: true })).toBe('x<a>y');
    expect(warnings).toEqual([]);
  });

  it('that would get another id than the file says are reported', async () => {
    const { tokenizer, warnings } = await load({
      'tokenizer_config.json': { added_tokens_decoder: { 5000: flags('<a>') } },
    });
    expect(tokenizer.idOf('<a>')).toBe(2048);
    expect(warnings).toEqual([expect.stringContaining('gives "<a>" the id 5000, tokenizer.json 2048')]);
  });

  it('with a role are special, whatever tokenizer.json says', async () => {
    const tokenizer = bundledTokenizer();
    tokenizer.added_tokens.push(added(2048, '<end>', { special: false }));
    const files = {
      'tokenizer_config.json': {
        eos_token: '<end>',
        added_tokens_decoder: { 2048: flags('<end>', { special: false }) },
      },
    };
    const text = await load(files, tokenizer);
    expect(await text.tokenizer.decode([90, 2048], { skipSpecial: true })).toBe('x');
    const stream = text.tokenizer.stream({ skipSpecial: true });
    expect(stream.push(90) + stream.push(2048) + stream.end()).toBe('x');
  });

  it.each([
    { what: 'with a role of its own', config: { image_token: '<image>' } },
    { what: 'among the extra special tokens', config: { extra_special_tokens: ['<image>'] } },
    {
      what: 'by their older name',
      config: { additional_special_tokens: [{ __type: 'AddedToken', ...flags('<image>') }] },
    },
    { what: 'named', config: { extra_special_tokens: { image_token: '<image>' } } },
  ])('$what are found in the text', async ({ config }) => {
    const { tokenizer } = await load({ 'tokenizer_config.json': config });
    expect(await tokenizer.encode('<image>', { special: false })).toEqual([2048]);
    expect(await tokenizer.decode([2048], { skipSpecial: true })).toBe('');
  });

  it('of older folders come from special_tokens_map.json, which wins, and added_tokens.json', async () => {
    const { facts, tokenizer } = await load({
      'tokenizer_config.json': { eos_token: '<|im_end|>', bos_token: '<|im_start|>' },
      'special_tokens_map.json': { eos_token: flags('<|endoftext|>') },
      'added_tokens.json': { '<late>': 2048, '<|im_end|>': 2 },
    });
    expect(facts.eos).toEqual([{ id: 0, token: '<|endoftext|>', source: 'tokenizer_config.json eos_token' }]);
    expect(facts.bos).toEqual({ id: 1, added: false });
    expect(tokenizer.idOf('<late>')).toBe(2048);
  });

  it('special_tokens_map.json is not looked at where added_tokens_decoder is', async () => {
    const { facts } = await load({
      'tokenizer_config.json': { eos_token: '<|im_end|>', added_tokens_decoder: {} },
      'special_tokens_map.json': { eos_token: '<|endoftext|>' },
    });
    expect(facts.eos.map((end) => end.id)).toEqual([2]);
  });

  it.each([
    { key: 'eos_token', config: { eos_token: 7 } },
    { key: 'bos_token', config: { bos_token: { text: '<s>' } } },
    { key: 'extra_special_tokens', config: { extra_special_tokens: '<a>' } },
    { key: 'added_tokens_decoder', config: { added_tokens_decoder: [] } },
    { key: 'added_tokens_decoder.x', config: { added_tokens_decoder: { x: flags('<a>') } } },
    { key: 'added_tokens_decoder.1', config: { added_tokens_decoder: { 1: { id: 3 } } } },
  ])('a $key that is none is refused, with file and key', async ({ key, config }) => {
    const error = await errorOf(() => load({ 'tokenizer_config.json': config }));
    expect(error.code).toBe('KVAD_E_TEXT_VALUE');
    expect(error.message).toContain(`"${key}" is `);
    expect(error.message).toContain('tokenizer_config.json');
  });
});

describe('tokens that end a text', () => {
  const files = {
    'generation_config.json': { eos_token_id: [2, 0] },
    'config.json': { eos_token_id: 5, text_config: { eos_token_id: [6, 2] } },
    'tokenizer_config.json': { eos_token: flags('<|im_start|>') },
  };

  it('are the union of all that the files name, each with the first source', async () => {
    const { facts, endIds } = await load(files);
    expect(facts.eos).toEqual([
      { id: 2, token: '<|im_end|>', source: 'generation_config.json eos_token_id' },
      { id: 0, token: '<|endoftext|>', source: 'generation_config.json eos_token_id' },
      { id: 5, token: '#', source: 'config.json eos_token_id' },
      { id: 6, token: '$', source: 'config.json text_config.eos_token_id' },
      { id: 1, token: '<|im_start|>', source: 'tokenizer_config.json eos_token' },
    ]);
    expect([...endIds].sort()).toEqual([0, 1, 2, 5, 6]);
  });

  it('null is absent, and a folder without any has none', async () => {
    const { facts } = await load({ 'generation_config.json': { eos_token_id: null }, 'config.json': {} });
    expect(facts.eos).toEqual([]);
  });

  it.each([
    ['generation_config.json', '2'],
    ['config.json', -1],
    ['config.json', [1, null]],
    ['generation_config.json', 1.5],
  ])('an eos_token_id of %s that is no id is refused: %j', async (file, value) => {
    const error = await errorOf(() => load({ [file]: { eos_token_id: value } }));
    expect(error.code).toBe('KVAD_E_TEXT_VALUE');
    expect(error.message).toMatch(new RegExp(`"eos_token_id" is .* in .*${file}`));
  });

  it('a BOS in the text that the tokenizer adds as well is kept, and reported once', async () => {
    const text = await load({ 'tokenizer_config.json': { bos_token: '<s>' } }, byteFallbackTokenizer());
    expect((await text.encodeText('<s>ten')).slice(0, 2)).toEqual([1, 1]);
    await text.encodeText('<s>e');
    expect(text.warnings).toEqual([
      'the prompt begins with "<s>" twice, it is kept so: the tokenizer adds "<s>" to raw text itself',
    ]);
  });
});

describe('the token that begins a text', () => {
  it('is added to raw text if the tokenizer adds it, never to a rendered template', async () => {
    const text = await load({ 'tokenizer_config.json': { bos_token: '<s>' } }, byteFallbackTokenizer());
    expect(text.facts.bos).toEqual({ id: 1, added: true });
    expect(await text.encodeText('ten')).toEqual([1, text.tokenizer.idOf('▁ten')]);
    expect(await text.encodeRendered('<s>ten')).toEqual([1, text.tokenizer.idOf('▁ten')]);
    expect(text.warnings).toEqual([]);
  });

  it('is known from the tokenizer where nothing names it', async () => {
    expect((await load({}, byteFallbackTokenizer())).facts.bos).toEqual({ id: 1, added: true });
    expect((await loadText(BUNDLED)).facts.bos).toBeNull();
  });

  it('is not added because of add_bos_token alone: tokenizer.json decides, as in transformers', async () => {
    const text = await load({ 'tokenizer_config.json': { bos_token: '<|endoftext|>', add_bos_token: true } });
    expect(text.facts.bos).toEqual({ id: 0, added: false });
    expect(await text.encodeText('Once')).toEqual([471]);
  });

  it('an end token that the tokenizer puts behind every text is no beginning', async () => {
    const tokenizer = {
      ...bundledTokenizer(),
      post_processor: {
        type: 'TemplateProcessing',
        single: [{ Sequence: { id: 'A', type_id: 0 } }, { SpecialToken: { id: '<|im_end|>', type_id: 0 } }],
        pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
        special_tokens: { '<|im_end|>': { id: '<|im_end|>', ids: [2], tokens: ['<|im_end|>'] } },
      },
    };
    const text = await load({ 'config.json': { eos_token_id: 2 } }, tokenizer);
    expect(text.facts.bos).toBeNull();
    expect(await text.encodeText('Once')).toEqual([471, 2]);
  });

  it('an eos_token that the tokenizer lacks is added, so that it can be found', async () => {
    const { facts } = await load({ 'tokenizer_config.json': { eos_token: '<end>' } });
    expect(facts.eos).toEqual([{ id: 2048, token: '<end>', source: 'tokenizer_config.json eos_token' }]);
  });
});
