import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { joinMerges } from '../../../core/dist/text/tokenizer/joined-merges.js';
import { loadTokenizer } from '../../../core/dist/text/tokenizer/load-tokenizer.js';
import { makeNative } from '../../../core/dist/text/tokenizer/native-library.js';
import { readOutline } from '../../../core/dist/text/tokenizer/outline.js';
import { bundledTokenizer, errorOf, folderOf, type Json } from './folders.js';

const PUBLISHED = fileURLToPath(new URL('../../../../shared/fixtures/tokenizers', import.meta.url));
const PRESENT = existsSync(PUBLISHED);

/** The text with its merges joined; null: it is left as it is. */
const joined = (text: string): string | null => {
  const bytes = Buffer.from(text);
  const file = joinMerges(bytes, readOutline(bytes).merges);
  if (file === null) return null;
  try {
    return readFileSync(file.file, 'utf8');
  } finally {
    file.close();
  }
};

/** `merges` as JSON text, in a file around it. */
const fileOf = (merges: string): string => `{"model": {"vocab": {"a": 0}, "merges": ${merges}}, "version": "é"}`;

const pairsOf = (merges: readonly string[]): string[][] => merges.map((merge) => merge.split(' '));
const textsOf = (merges: readonly (string | string[])[]): string[] =>
  merges.map((merge) => (typeof merge === 'string' ? merge : merge.join(' ')));
const modelOf = (json: Json): { merges: (string | string[])[] } => json['model'] as { merges: (string | string[])[] };

const withMerges = (json: Json, merges: unknown): Json => ({ ...json, model: { ...modelOf(json), merges } });

const thrownBy = (action: () => unknown): Error => {
  try {
    action();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
};

/** JSON of a text, with some of its characters by their numbers. */
const written = (text: string, byNumber: boolean): string =>
  byNumber
    ? `"${[...text].map((c) => (c.length === 1 ? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}` : c)).join('')}"`
    : JSON.stringify(text);

describe.runIf(loadAddon() !== null && process.platform === 'linux')('merges that are pairs', () => {
  const LETTERS = [
    'a',
    'Ġ',
    '"',
    '\\',
    '/',
    '\n',
    '\t',
    '\u0000',
    '\u007f',
    '#',
    '中',
    '😀',
    ']',
    ',',
    '\u00a0',
    '\u2003',
  ];
  const token = fc.oneof(
    { weight: 20, arbitrary: fc.string({ unit: fc.constantFrom(...LETTERS) }) },
    { weight: 1, arbitrary: fc.constantFrom('#version', '# version', 'a b', ' ', '#versio') },
  );
  const space = fc.constantFrom('', ' ', '\n    ', '\r\n\t');

  it('become the same merges as texts, or stay', () => {
    let changed = 0;
    const property = fc.property(
      fc.array(fc.tuple(token, token), { minLength: 1, maxLength: 6 }),
      fc.nat({ max: 3 }),
      space,
      (pairs, style, gap) => {
        const list = pairs.map(([a, b]) => `[${gap}${written(a, style === 0)}${gap},${gap}${written(b, false)}${gap}]`);
        const text = fileOf(`[${gap}${list.join(`${gap},${gap}`)}${gap}]`);
        const out = joined(text);
        const spaced = pairs.flat().some((one) => one.includes(' '));
        const comment = pairs.some(([a]) => a.startsWith('#version'));
        if (spaced || comment) expect(out).toBeNull();
        if (out === null) return;
        changed++;
        const expected = JSON.parse(text) as Json;
        expect(JSON.parse(out)).toEqual({
          ...expected,
          model: { vocab: { a: 0 }, merges: pairs.map((pair) => pair.join(' ')) },
        });
      },
    );
    fc.assert(property, { numRuns: 1000 });
    expect(changed).toBeGreaterThan(200);
  });

  it.each([
    ['none', '[]'],
    ['texts already', '["a b", "c d"]'],
    ['texts among them', '[["a", "b"], "c d"]'],
    ['three', '[["a", "b", "c"]]'],
    ['one', '[["a"]]'],
    ['numbers', '[["a", 1]]'],
    ['lists', '[["a", ["b"]]]'],
    ['an object', '{"a": "b"}'],
    ['a comma too many', '[["a", "b"],]'],
    ['a comma too few', '[["a", "b"] ["c", "d"]]'],
    ['an escape that is none', '[["a", "\\x"]]'],
    ['a short number', '[["a", "\\u12"]]'],
    ['a space by its number', '[["a", "\\u0020"]]'],
    ['a comment by its number', '[["\\u0023version", "b"]]'],
    ['a line that is not closed', '[["a", "b\n"]]'],
  ])('are left where they are %s', (_, merges) => {
    expect(joined(fileOf(merges))).toBeNull();
  });

  it('are left where they do not end', () => {
    const text = fileOf('[["a", "b"], ["c", "d"]]');
    const start = text.indexOf('[[');
    for (let end = start; end < text.indexOf(', "version"') - 1; end++) expect(joined(text.slice(0, end))).toBeNull();
  });

  it.each(['at >= end', 'end beyond the bytes'])('the addon refuses %s', (what) => {
    const bytes = Buffer.from('[["a","b"]]');
    const [at, end] = what === 'at >= end' ? [3, 3] : [0, bytes.length + 1];
    expect(() => loadAddon()!.joinMerges(bytes, at!, end!)).toThrow(TypeError);
  });

  it('are loaded to the same tokenizer, and leave no file open', async () => {
    const json = bundledTokenizer();
    const texts = textsOf(modelOf(json).merges);
    const text = `Once upon a time a fox found a lantern. ${'x1 \n\tétude 中😀 '.repeat(3)}<|endoftext|>`;
    const ids = [];
    for (const form of [texts, pairsOf(texts)]) {
      const folder = folderOf({ 'tokenizer.json': withMerges(json, form) });
      expect(joined(readFileSync(path.join(folder, 'tokenizer.json'), 'utf8')) === null).toBe(form === texts);
      const before = readdirSync('/proc/self/fd').length;
      const { tokenizer } = await loadTokenizer(folder, null, null);
      expect(readdirSync('/proc/self/fd')).toHaveLength(before);
      ids.push(await tokenizer.encode(text, { special: true }));
    }
    expect(ids[1]).toEqual(ids[0]);
    expect(ids[0]!.length).toBeGreaterThan(10);
  });

  it('are said to be wrong in the words that the file itself gets', async () => {
    const json = bundledTokenizer();
    const file = path.join(folderOf({ 'tokenizer.json': withMerges(json, [['no', 'such']]) }), 'tokenizer.json');
    const expected = thrownBy(() => makeNative({ file, text: () => '' }, []));
    const { message } = await errorOf(() => loadTokenizer(path.dirname(file), null, null));
    expect(message).toContain(expected.message);
    expect(message).toMatch(/column \d+/);
  });

  it.skipIf(!PRESENT).each(['gpt2', 'qwen2_5', 'deepseek_v4', 'mistral_v3'])(
    'of %s are joined to the list that was published',
    (name) => {
      const text = gunzipSync(readFileSync(path.join(PUBLISHED, `${name}.tokenizer.json.gz`))).toString('utf8');
      const json = JSON.parse(text) as Json;
      const texts = textsOf(modelOf(json).merges);
      const forms = [texts, pairsOf(texts)].map((merges) => withMerges(json, merges));
      expect(joined(JSON.stringify(forms[0])) === null).toBe(true);
      const out = JSON.parse(joined(JSON.stringify(forms[1], null, 2)) ?? 'null') as Json;
      expect(modelOf(out).merges).toEqual(texts);
      expect({ ...out, model: null }).toEqual({ ...json, model: null });
    },
  );
});

it('a tokenizer.json that another has replaced is not read for special tokens as text', async () => {
  const json = bundledTokenizer();
  const folder = folderOf({ 'tokenizer.json': json });
  const { tokenizer } = await loadTokenizer(folder, null, null);
  const special = String(json.added_tokens.find((token) => token['special'] === true)?.['content']);
  writeFileSync(path.join(folder, 'tokenizer.json'), JSON.stringify({ ...json, version: '1.1' }));
  const error = await errorOf(() => tokenizer.encode(`a ${special}`, { special: false, parseSpecial: false }));
  expect(error.code).toBe('KVAD_E_TOKENIZER_INVALID');
  expect(error.message).toContain('it has changed since it was loaded');
});
