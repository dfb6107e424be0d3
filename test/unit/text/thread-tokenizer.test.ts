/** A tokenizer in another thread gives what the same one gives here. */
import { MessageChannel, Worker } from 'node:worker_threads';
import { loadText, openThrough, type LoadedTextSide, type TokenizerOrder } from '@kvad/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BUNDLED, errorOf, folderOf } from './folders.js';
import { byteFallbackTokenizer } from './vocabularies.js';

const MODULE = new URL('../../../cli/dist/tokenizer-worker.js', import.meta.url);

const loadBeside = async (directory: string): Promise<{ text: LoadedTextSide; worker: Worker }> => {
  const worker = new Worker(MODULE);
  onTestFinished(() => void worker.terminate());
  const { port1, port2 } = new MessageChannel();
  worker.postMessage({ directory, port: port1 } satisfies TokenizerOrder, [port1]);
  return { text: await loadText(directory, { openTokenizer: openThrough(port2) }), worker };
};

const TEXTS = ['', 'Once upon a time', 'a fox, a lantern — 中文 😀 \uD800', ' \n\t x <|im_end|> y'];

describe.each([
  ['the bundled tokenizer', () => BUNDLED],
  [
    'one with byte tokens',
    () => folderOf({ 'tokenizer.json': byteFallbackTokenizer(), 'config.json': { vocab_size: 300 } }),
  ],
])('%s', (_, folder) => {
  it('gives the same ids, texts and tokens', async () => {
    const directory = folder();
    const here = await loadText(directory);
    const { text: there } = await loadBeside(directory);
    expect(there.facts).toEqual(here.facts);
    expect(there.warnings).toEqual(here.warnings);
    expect(there.tokenizer.vocabSize).toBe(here.tokenizer.vocabSize);
    for (const text of TEXTS) {
      for (const options of [{ special: true }, { special: false }, { special: false, parseSpecial: false }]) {
        expect(await there.tokenizer.encode(text, options)).toEqual(await here.tokenizer.encode(text, options));
      }
      const ids = await here.tokenizer.encode(text, { special: true });
      for (const skipSpecial of [true, false]) {
        expect(await there.tokenizer.decode(ids, { skipSpecial })).toBe(
          await here.tokenizer.decode(ids, { skipSpecial }),
        );
        const [a, b] = [here.tokenizer.stream({ skipSpecial }), there.tokenizer.stream({ skipSpecial })];
        expect([...ids.map((id) => b.push(id)), b.end()]).toEqual([...ids.map((id) => a.push(id)), a.end()]);
      }
    }
    for (let id = -1; id < 600; id++) expect(there.tokenizer.tokenOf(id)).toBe(here.tokenizer.tokenOf(id));
    for (const token of ['Once', '<0xE4>', 'no such token']) {
      expect(there.tokenizer.idOf(token)).toBe(here.tokenizer.idOf(token));
    }
  });

  it('refuses the same ids', async () => {
    const { text } = await loadBeside(folder());
    for (const id of [-1, 1.5, 2 ** 20]) {
      expect((await errorOf(() => text.tokenizer.decode([id], { skipSpecial: true }))).code).toBe('KVAD_E_TOKEN_ID');
      expect((await errorOf(() => text.tokenizer.stream({ skipSpecial: true }).push(id))).code).toBe('KVAD_E_TOKEN_ID');
    }
  });
});

it('what is wrong with a tokenizer is said as it is here', async () => {
  const directory = folderOf({ 'tokenizer.json': '{"model":' });
  const here = await errorOf(() => loadText(directory));
  const there = await errorOf(() => loadBeside(directory));
  expect(there.code).toBe('KVAD_E_TOKENIZER_INVALID');
  expect(there.message).toBe(here.message);
});

it('a folder without a tokenizer is one', async () => {
  const { text } = await loadBeside(folderOf({ 'config.json': { eos_token_id: 2 } }));
  expect(text.facts.tokenizer).toBeNull();
  expect((await errorOf(() => text.encodeText('a'))).code).toBe('KVAD_E_TOKENIZER_MISSING');
});

it('a thread that has ended is an error of its model, not a wait', async () => {
  const { text, worker } = await loadBeside(BUNDLED);
  await worker.terminate();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const error = await errorOf(() => text.encodeText('a'));
  expect(error.code).toBe('KVAD_E_WORKER');
  expect(error.message).toContain('the thread of its tokenizer');
  expect((await errorOf(() => text.tokenizer.idOf('a'))).code).toBe('KVAD_E_WORKER');
});

it('a notice that comes late is not taken for an answer', async () => {
  // Says of each answer twice that it is there; the second time, the next answer is waited for.
  const source = `
    const { parentPort } = require('node:worker_threads');
    const facts = { limit: 9, special: new Set(), bytes: 'none' };
    const opened = { source: 'tokenizer.json', tokens: { named: {}, added: [] }, warnings: [], vocabSize: 9, facts };
    parentPort.once('message', ({ port }) => port.on('message', ({ id, name, request, flag }) => {
      const say = () => Atomics.notify(flag, 0);
      setTimeout(() => {
        port.postMessage({ id, value: name === 'open' ? opened : request.token.length });
        if (flag === null) return;
        Atomics.store(flag, 0, 1);
        say();
        setTimeout(say, 50);
      }, 100);
    }));`;
  const worker = new Worker(source, { eval: true });
  onTestFinished(() => void worker.terminate());
  const { port1, port2 } = new MessageChannel();
  worker.postMessage({ port: port1 }, [port1]);
  const { tokenizer } = await openThrough(port2)('a folder', null, null);
  expect(['a', 'bc', 'def'].map((token) => tokenizer.idOf(token))).toEqual([1, 2, 3]);
});
