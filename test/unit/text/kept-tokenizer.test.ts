/** What is made of a tokenizer's files is given again while they are the same. */
import { chmodSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { KeptTokenizer, loadText } from '@kvad/core';
import { expect, it } from 'vitest';
import { loadTokenizer } from '../../../core/dist/text/tokenizer/load-tokenizer.js';
import type { MakeLibrary, TokenizerLibrary } from '../../../core/dist/text/tokenizer/library.js';
import { BUNDLED, folderOf } from './folders.js';
import { byteFallbackTokenizer } from './vocabularies.js';

const file = (name: string) => ({ file: name, text: () => '' });
const text = (content: string) => ({ file: null, text: () => content });
const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
const make: MakeLibrary = () => ({}) as TokenizerLibrary;

it('what was made of a file, of a text and of added tokens is told apart', () => {
  const kept = new KeptTokenizer();
  const asked = [
    [file('a'), []],
    [text('one'), []],
    [text('two'), []],
    [file('a'), [{ ...flags, content: 'x' }]],
    [file('a'), [{ ...flags, content: 'x', special: false }]],
  ] as const;
  const first = asked.map(([source, added]) => kept.keeping('a', make)(source, added));
  expect(new Set(first).size).toBe(asked.length);
  const again = asked.map(([source, added]) => kept.keeping('a', make)(source, added));
  for (const [index, library] of again.entries()) expect(library).toBe(first[index]);
});

it('only what was loaded last is kept, and each model gets its own', () => {
  const kept = new KeptTokenizer();
  const a = kept.keeping('a', make);
  const made = a(file('a'), []);
  const b = kept.keeping('b', make);
  const other = b(file('b'), []);
  expect(a(file('a'), [])).toBe(made);
  expect(a(text('late'), [])).not.toBe(b(text('late'), []));
  expect(kept.keeping('b', make)(file('b'), [])).toBe(other);
  expect(kept.keeping('a', make)(file('a'), [])).not.toBe(made);
  kept.forget();
  expect(kept.keeping('a', make)(file('a'), [])).not.toBe(made);
});

it('a tokenizer.json that has changed is read again', async () => {
  const kept = new KeptTokenizer();
  const directory = folderOf({ 'tokenizer.json': byteFallbackTokenizer(), 'config.json': { vocab_size: 300 } });
  const before = await loadText(directory, { kept });
  const same = await loadText(directory, { kept });
  const prompt = 'Once upon a time <0xE4>';
  expect(await same.encodeText(prompt)).toEqual(await before.encodeText(prompt));
  const json = byteFallbackTokenizer();
  const added = [...(json['added_tokens'] as object[]), { ...flags, id: 299, content: 'upon' }];
  writeFileSync(path.join(directory, 'tokenizer.json'), JSON.stringify({ ...json, added_tokens: added }));
  const after = await loadText(directory, { kept });
  expect(await after.encodeText(prompt)).toEqual(await (await loadText(directory)).encodeText(prompt));
  expect(await after.encodeText(prompt)).not.toEqual(await before.encodeText(prompt));
  // Another folder's beside it, and back.
  await loadText(BUNDLED, { kept });
  expect(await (await loadText(directory, { kept })).encodeText(prompt)).toEqual(await after.encodeText(prompt));
});

it('a tokenizer.json that was written over with one of its size and time is read again', async () => {
  const kept = new KeptTokenizer();
  const text = JSON.stringify(byteFallbackTokenizer());
  // The bytes of É change places.
  const other = text.replace(/<0x(C3|89)>/g, (_, byte) => (byte === 'C3' ? '<0x89>' : '<0xC3>'));
  const directory = folderOf({ 'config.json': { vocab_size: 300 } });
  const stored = path.join(directory, 'tokenizer.json');
  const write = (content: string) => {
    writeFileSync(stored, content);
    utimesSync(stored, 500_000_000, 500_000_000);
    return statSync(stored);
  };
  const first = write(text);
  const before = await (await loadText(directory, { kept })).encodeText('É');
  await new Promise((resolve) => setTimeout(resolve, 50)); // a clock of files may be as coarse as 10 ms
  const second = write(other);
  expect([second.size, second.ino, second.mtimeMs]).toEqual([first.size, first.ino, first.mtimeMs]);
  const after = await (await loadText(directory, { kept })).encodeText('É');
  expect(after).toEqual(await (await loadText(directory)).encodeText('É'));
  expect(after).not.toEqual(before);
});

it('a tokenizer.json with another mode is not said to be another file', async () => {
  const json = { ...byteFallbackTokenizer() };
  json['added_tokens'] = [...(json['added_tokens'] as object[]), { ...flags, id: 299, content: 'upon' }];
  const directory = folderOf({ 'tokenizer.json': json, 'config.json': { vocab_size: 300 } });
  const { tokenizer } = await loadTokenizer(directory, null, 300);
  chmodSync(path.join(directory, 'tokenizer.json'), 0o400);
  const ids = await tokenizer.encode('upon', { special: false, parseSpecial: false });
  expect(ids).not.toContain(299);
});
