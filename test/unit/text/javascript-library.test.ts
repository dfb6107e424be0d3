import { loadText, type TextSide } from '@kvad/core';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { BUNDLED, bundledTokenizer, errorOf, folderOf } from './folders.js';
import { byteFallbackTokenizer } from './vocabularies.js';

const SAMPLES = [
  'Once upon a time',
  '',
  '  two  spaces\n\n',
  '<|im_start|>user\nhi<|im_end|>',
  'ΟΔΟΣ 👨‍👩‍👧 한국어',
  'a\uD800b',
];

const load = (folder: string): Promise<TextSide> => loadText(folder, { tokenizerLibrary: 'javascript' });

/** Makes `tokenizers` fail as it does where the package has no binary for the machine. */
const WITHOUT_NATIVE = `
  const Module = require('node:module');
  const resolve = Module._resolveFilename;
  Module._resolveFilename = function (name, ...rest) {
    if (name === 'tokenizers') throw new Error('Cannot find native binding');
    return resolve.call(this, name, ...rest);
  };
`;

describe('the JavaScript library', () => {
  it.each([
    ['the bundled model', (): string => BUNDLED],
    ['a vocabulary with byte fallback', (): string => folderOf({ 'tokenizer.json': byteFallbackTokenizer() })],
  ])('gives ids, text and stream of %s as the native one does', async (_, folderOfIt) => {
    const folder = folderOfIt();
    const [native, javascript] = [await loadText(folder), await load(folder)];
    expect(javascript.tokenizer.vocabSize).toBe(native.tokenizer.vocabSize);
    expect(javascript.facts).toEqual(native.facts);
    for (const sample of SAMPLES) {
      for (const special of [true, false]) {
        const ids = await native.tokenizer.encode(sample, { special });
        expect(await javascript.tokenizer.encode(sample, { special }), sample).toEqual(ids);
        for (const skipSpecial of [true, false]) {
          const text = await native.tokenizer.decode(ids, { skipSpecial });
          expect(await javascript.tokenizer.decode(ids, { skipSpecial }), sample).toBe(text);
          const stream = javascript.tokenizer.stream({ skipSpecial });
          expect(ids.map((id) => stream.push(id)).join('') + stream.end()).toBe(text);
        }
      }
    }
  });

  it('gives added tokens the ids that the native one gives them', async () => {
    const config = { additional_special_tokens: ['<extra>', '<|im_end|>'], pad_token: '<pad>' };
    const folder = folderOf({ 'tokenizer.json': bundledTokenizer(), 'tokenizer_config.json': config });
    const sample = 'a<pad>b<extra>c<|im_end|>';
    expect(await (await load(folder)).encodeText(sample)).toEqual(await (await loadText(folder)).encodeText(sample));
  });

  it('ends on a pattern that would never end with an error, not a hang', async () => {
    const tokenizer = bundledTokenizer();
    const split = { type: 'Split', pattern: { Regex: '^(a+)+$' }, behavior: 'Isolated', invert: false };
    const folder = folderOf({ 'tokenizer.json': { ...tokenizer, pre_tokenizer: split } });
    const error = await errorOf(() => load(folder));
    expect(error.code).toBe('KVAD_E_TOKENIZER_INVALID');
    expect(error.message).toContain('short texts take more than');
  }, 120_000);

  it('is used where the native one has no binary, and the user is told', async () => {
    const cli = fileURLToPath(new URL('../../../cli/bin/kvad.js', import.meta.url));
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [cli, 'tokenize', 'Once upon a time', '--json'],
      {
        env: {
          ...process.env,
          NODE_OPTIONS: `--require=${join(folderOf({ 'without.cjs': WITHOUT_NATIVE }), 'without.cjs')}`,
        },
      },
    );
    expect((JSON.parse(stdout) as { ids: number[] }).ids).toEqual(
      await (await loadText(BUNDLED)).encodeText('Once upon a time'),
    );
    expect(stderr).toContain('warning: the native tokenizers library does not load (Cannot find native binding)');
    expect(stderr).toContain('no difference is known for a tokenizer like this one');
  }, 120_000);
});
