import { loadText, type SamplingOptions } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { BUNDLED, errorOf, folderOf, type Json } from './folders.js';

const load = (config: Json | string): ReturnType<typeof loadText> =>
  loadText(folderOf({ 'generation_config.json': config }));

describe('sampling values of generation_config.json', () => {
  it('are those of the bundled model', async () => {
    expect((await loadText(BUNDLED)).facts.sampling).toEqual({ temperature: 0.7, topK: 40, topP: 0.95 });
  });

  it('say which key each came from', async () => {
    const { generation } = await load({ do_sample: true, temperature: 0.6, top_k: 20, top_p: 0.9, min_p: 0.1 });
    expect(generation.sampling).toEqual({ temperature: 0.6, topK: 20, topP: 0.9, minP: 0.1 });
    expect(generation.sources).toEqual({ temperature: 'temperature', topK: 'top_k', topP: 'top_p', minP: 'min_p' });
  });

  it('a repetition penalty looks at all tokens, as in transformers', async () => {
    const { sampling } = (await load({ repetition_penalty: 1.1 })).facts;
    expect(sampling).toEqual({ repeatPenalty: 1.1, repeatWindow: Number.MAX_SAFE_INTEGER });
  });

  it.each<{ config: Json; sampling: Partial<SamplingOptions> }>([
    { config: { do_sample: false }, sampling: { temperature: 0 } },
    { config: { do_sample: false, temperature: 0.6, top_p: 0.9 }, sampling: { temperature: 0, topP: 0.9 } },
    { config: { do_sample: null, temperature: null, top_k: null }, sampling: {} },
    { config: {}, sampling: {} },
  ])('$config gives $sampling', async ({ config, sampling }) => {
    expect((await load(config)).facts.sampling).toEqual(sampling);
  });

  it('a folder without the file gives none', async () => {
    expect((await loadText(folderOf({}))).facts.sampling).toEqual({});
  });

  it.each([
    ['temperature', -0.1],
    ['temperature', '0.7'],
    ['top_k', 1.5],
    ['top_k', -1],
    ['top_p', 0],
    ['top_p', 1.01],
    ['min_p', 1],
    ['repetition_penalty', 0],
    ['do_sample', 'yes'],
  ])('%s: %j is refused, with file and key', async (key, value) => {
    const error = await errorOf(() => load({ [key]: value }));
    expect(error.code).toBe('KVAD_E_TEXT_VALUE');
    expect(error.message).toContain(`"${key}" is ${JSON.stringify(value)} in `);
    expect(error.message).toContain('generation_config.json, expected ');
  });

  it('keys that are not read are listed; those that would change the text, and are not applied, are said', async () => {
    const { generation, warnings } = await load({
      ...{ eos_token_id: 2, transformers_version: '5.24.0', max_new_tokens: 20, chat_style: 'x' },
      ...{ no_repeat_ngram_size: 3, num_beams: 1, suppress_tokens: [4], typical_p: 1 },
    });
    expect(generation.ignored).toEqual([
      'chat_style',
      'no_repeat_ngram_size',
      'num_beams',
      'suppress_tokens',
      'typical_p',
    ]);
    expect(warnings).toEqual([
      'generation_config.json asks for "no_repeat_ngram_size", which kvad does not apply',
      'generation_config.json asks for "suppress_tokens", which kvad does not apply',
    ]);
  });

  it.each(['', '{', '[]', 'null', '<html>'])('a file that holds %j is refused', async (content) => {
    const error = await errorOf(() => load(content));
    expect(error.code).toBe('KVAD_E_TEXT_FILE');
    expect(error.message).toContain('generation_config.json cannot be read: ');
  });
});
