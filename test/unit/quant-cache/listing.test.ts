import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { listQuantCaches } from '@kvad/core';
import type { CliCache } from '@kvad/schemas';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../cli/dist/commands/main.js';
import { QuantCacheWriter } from '../../../core/dist/checkpoint/quant-cache/write-quant-cache.js';
import { quantCacheFolder, quantCacheName, sourceOf } from '../../../core/dist/checkpoint/quant-cache/identity.js';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { fakeIo } from '../cli/fake-io.js';

const scratch = mkdtempSync(path.join(tmpdir(), 'kvad-listing-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const LAYOUT = loadAddon()?.layoutVersion ?? 1;
let env: Record<string, string>;
let folder: string;
let places = 0;

beforeEach(() => {
  env = { XDG_CACHE_HOME: path.join(scratch, `home-${(places += 1)}`) };
  folder = quantCacheFolder(env);
});

/** A model folder with one file, and a cache of it. */
const keep = (model: string, { layout = LAYOUT, precision = 'q8' as 'q8' | 'q4' } = {}): string => {
  const directory = path.join(scratch, `models-${places}`, model);
  const weights = path.join(directory, 'model.safetensors');
  mkdirSync(directory, { recursive: true });
  writeFileSync(weights, 'weights');
  const identity = { precision, layout, bindings: '', sources: [sourceOf(weights)] };
  const writer = new QuantCacheWriter(path.join(folder, quantCacheName(directory, precision)), identity, directory);
  writer.add('a', {
    dtype: precision === 'q8' ? 'Q8' : 'Q4',
    shape: [16, 32],
    bytes: new Uint8Array(precision === 'q8' ? 576 : 320),
  });
  writer.finish();
  return directory;
};

const kvad = async (...words: string[]): Promise<{ exit: number; err: string; json: CliCache; out: string }> => {
  const io = fakeIo({ cwd: scratch, env });
  const exit = await runCommandLine(words, io);
  return {
    exit,
    err: io.err(),
    out: io.out(),
    json: (exit === 0 && words.includes('--json') ? JSON.parse(io.out()) : {}) as CliCache,
  };
};

describe('kvad cache', () => {
  it('lists nothing where nothing has been quantised', async () => {
    expect((await kvad('cache', '--json')).json).toEqual({
      object: 'kvad.cache',
      folder,
      bytes: 0,
      files: [],
      removed: [],
    });
    expect((await kvad('cache')).out).toContain('no quantised weights');
  });

  it('names the model, the precision, the size and the folder', async () => {
    const directory = keep('tiny', { precision: 'q4' });
    const { json } = await kvad('cache', '--json');
    const [name] = readdirSync(folder);
    expect(json.files).toEqual([
      {
        file: name,
        model: name!.replace(/^local--(.*)\.q4\.kvq$/, '$1'),
        precision: 'q4',
        bytes: statSync(path.join(folder, name!)).size,
        state: 'ready',
        reason: null,
        directory,
      },
    ]);
    expect(json.bytes).toBe(json.files[0]!.bytes);
    expect((await kvad('cache')).out).toMatch(/^MODEL +PRECISION +SIZE +STATE +FILE\ntiny-\w{12} +q4 /);
  });

  it('names a snapshot of the Hugging Face cache as the Hub does', () => {
    keep('models--owner--name/snapshots/0123456789abcdef');
    expect(listQuantCaches(env).map(({ model }) => model)).toEqual(['owner/name@0123456789ab']);
  });

  it.each<[string, string, (directory: string, file: string) => void]>([
    [
      'files that changed',
      'the files of the model have changed',
      (directory) => utimesSync(path.join(directory, 'model.safetensors'), 1, 1),
    ],
    [
      'files that are gone',
      'the files of the model have changed',
      (directory) => rmSync(path.join(directory, 'model.safetensors')),
    ],
    ['a folder that is gone', 'the folder of the model is gone', (directory) => rmSync(directory, { recursive: true })],
    ['a file that was cut', 'it is cut short', (_, file) => truncateSync(file, statSync(file).size - 1)],
    [
      'another file of that name',
      'it is not of format version 1',
      (_, file) => writeFileSync(file, Buffer.alloc(100, 7)),
    ],
  ])('says stale of %s', (_, reason, damage) => {
    const directory = keep('tiny');
    damage(directory, path.join(folder, readdirSync(folder)[0]!));
    expect(listQuantCaches(env)).toMatchObject([{ state: 'stale', reason }]);
  });

  it.runIf(loadAddon() !== null)('says stale of another layout', () => {
    keep('tiny', { layout: LAYOUT + 1 });
    expect(listQuantCaches(env)).toMatchObject([
      { state: 'stale', reason: expect.stringContaining(`version ${LAYOUT + 1}`) },
    ]);
  });

  it('tells a file that a process writes from one that nobody finishes, and leaves what is not ours alone', async () => {
    keep('tiny');
    for (const name of [`a--b@c.q8.kvq.${process.pid}-1.tmp`, 'a--b@c.q8.kvq.4194399-1.tmp', 'notes.txt']) {
      writeFileSync(path.join(folder, name), 'x');
    }
    const states = listQuantCaches(env).map(({ model, state }) => [model, state]);
    expect(states).toEqual(
      expect.arrayContaining([
        ['a/b@c', 'writing'],
        ['a/b@c', 'leftover'],
      ]),
    );
    expect(states).toHaveLength(3);
    const { json } = await kvad('cache', 'clear', '--json');
    expect(json.removed.map(({ state }) => state).sort()).toEqual(['leftover', 'ready']);
    expect(readdirSync(folder).sort()).toEqual([`a--b@c.q8.kvq.${process.pid}-1.tmp`, 'notes.txt']);
  });

  it('knows a leftover whose number another process has by now', () => {
    keep('tiny');
    const file = path.join(folder, `a--b@c.q8.kvq.${process.pid}-1.tmp`);
    writeFileSync(file, 'x');
    const before = Date.now() / 1000 - 3600;
    utimesSync(file, before, before);
    expect(listQuantCaches(env).find(({ model }) => model === 'a/b@c')).toMatchObject({ state: 'leftover' });
  });

  it('says what keeps it from looking', async () => {
    mkdirSync(path.dirname(folder), { recursive: true });
    writeFileSync(folder, '');
    const { exit, err } = await kvad('cache');
    expect({ exit, code: /KVAD_E_\w+/.exec(err)?.[0] }).toEqual({ exit: 1, code: 'KVAD_E_FILE' });
  });
});

describe('kvad cache clear NAME', () => {
  it.each<[string, (directory: string, file: string) => string]>([
    ['the model', (_, file) => /^local--(.*)\.q8\.kvq$/.exec(file)![1]!],
    ['the file', (_, file) => file],
    ['the folder of the model', (directory) => path.relative(scratch, directory)],
  ])('deletes those of one model, named by %s', async (_, nameOf) => {
    keep('other');
    const [other] = readdirSync(folder);
    const directory = keep('tiny');
    const file = readdirSync(folder).find((one) => one !== other)!;
    expect(await kvad('cache', 'clear', nameOf(directory, file))).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/^deleted 1 file, /),
    });
    expect(readdirSync(folder)).toEqual([other]);
  });

  it('refuses a name that nothing has, and says what there is', async () => {
    keep('tiny');
    const { exit, err } = await kvad('cache', 'clear', 'nothing');
    expect(exit).toBe(1);
    expect(err).toMatch(/no quantised weights of nothing are kept in .*; there are: tiny-\w{12}/);
  });
});
