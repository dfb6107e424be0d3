import { loadText } from '@kvad/core';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bundledTokenizer, errorOf, folderOf, type Files, type Json } from './folders.js';

/** What transformers gives for a folder with vocab.json, merges.txt and each of the configs. */
interface Expected {
  readonly cases: readonly {
    readonly config: Json;
    readonly bos: number | null;
    readonly eos: number | null;
    readonly results: readonly {
      readonly text: string;
      readonly ids: readonly number[];
      readonly ids_special: readonly number[];
      readonly decoded: string;
    }[];
  }[];
}

const { cases } = JSON.parse(
  readFileSync(new URL('../../fixtures/assembled-tokenizers/expected.json', import.meta.url), 'utf8'),
) as Expected;

const vocabularyFiles = (): { 'vocab.json': Json; 'merges.txt': string } => {
  const { model } = bundledTokenizer();
  const merges = (model['merges'] as (string | string[])[]).map((pair) =>
    typeof pair === 'string' ? pair : pair.join(' '),
  );
  return { 'vocab.json': model['vocab'] as Json, 'merges.txt': `#version: 0.2\n${merges.join('\n')}\n` };
};

describe('vocab.json and merges.txt without tokenizer.json', () => {
  it.each(cases)('are the tokenizer that transformers makes of $config', async ({ config, bos, eos, results }) => {
    const text = await loadText(folderOf({ ...vocabularyFiles(), 'tokenizer_config.json': config }));
    expect(text.facts.tokenizer).toBe('vocab.json + merges.txt');
    const got = [];
    for (const { text: string } of results) {
      const ids = await text.tokenizer.encode(string, { special: false });
      const special = await text.tokenizer.encode(string, { special: true });
      const decoded = await text.tokenizer.decode(special, { skipSpecial: true });
      got.push({ text: string, ids, ids_special: special, decoded });
    }
    expect(got).toEqual(results);
    expect(text.facts.eos.map(({ id }) => id)).toEqual(eos === null ? [] : [eos]);
    if (bos !== null) expect(text.facts.bos?.id).toBe(bos);
  });

  const files = (more: Files): string =>
    folderOf({ ...vocabularyFiles(), 'tokenizer_config.json': { tokenizer_class: 'GPT2Tokenizer' }, ...more });

  it.each([{}, { tokenizer_class: 'PreTrainedTokenizerFast' }, { tokenizer_class: 'CustomTokenizer' }])(
    'are refused where the config names no class whose rules are known: %j',
    async (config) => {
      const text = await loadText(files({ 'tokenizer_config.json': config }));
      const error = await errorOf(() => text.encodeText('a'));
      expect(error.code).toBe('KVAD_E_TOKENIZER_MISSING');
      expect(error.message).toContain('merges.txt');
    },
  );

  it.each([
    { what: 'a line of three', merges: '#version: 0.2\na b c\n', says: 'line 2 is "a b c", not two tokens' },
    { what: 'an empty line', merges: 'a b\n\na b\n', says: 'line 2 is "", not two tokens' },
    { what: 'a token that is not in the vocabulary', merges: 'zzz q\n', says: 'out of vocabulary' },
  ])('are refused for $what', async ({ merges, says }) => {
    const error = await errorOf(() => loadText(files({ 'merges.txt': merges })));
    expect(error.code).toBe('KVAD_E_TOKENIZER_INVALID');
    expect(error.message).toContain(says);
    expect(error.message).toContain('merges.txt');
  });

  it('are refused for a vocabulary that is cut', async () => {
    const error = await errorOf(() => loadText(files({ 'vocab.json': '{"a": 1, "b' })));
    expect(error.code).toBe('KVAD_E_TEXT_FILE');
    expect(error.message).toContain('vocab.json');
  });
});
