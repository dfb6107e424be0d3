import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import type { CliDoctor, CliInfo, CliLs, CliRm, CliRun, CliSearch, CliTokenize, CliUse } from '@kvad/schemas';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { runsHere } from '../../cli/dist/commands/fits.js';
import { BUNDLED_MODEL } from '../../cli/dist/model-folder.js';
import { cacheSnapshot } from './cached-model.js';
import { LocalHub } from './local-hub.js';
import { play, playJson } from './play.js';
import { folderContents } from './repository.js';
import { temporaryHome, type Home } from './temporary-home.js';

const ONE = '1'.repeat(40);
const TWO = '2'.repeat(40);
/** Milliseconds: a model is loaded in a worker, which takes long where others compute. */
const BUSY = 120_000;
const offline = { env: { HF_HUB_OFFLINE: '1' } };

let hub: LocalHub;
let home: Home;

beforeAll(async () => {
  hub = await LocalHub.start();
  hub.add('fox/tales', BUNDLED_MODEL, { downloads: 1234 });
  hub.add(
    'fox/strange',
    { 'config.json': '{"model_type":"never-heard-of"}', 'model.safetensors': 'x' },
    { downloads: 9 },
  );
  hub.add('fox/files', { 'README.md': 'x', 'm.gguf': 'x' }, { gated: 'auto', downloads: 5 });
});
afterAll(() => hub.stop());
beforeEach(() => void (home = temporaryHome(hub)));
afterEach(() => home.remove());

describe('after kvad pull, offline', () => {
  it(
    'the model runs by its name, without a socket; every command finds it',
    async () => {
      await play(home, ['pull', 'fox/tales']);
      const connect = vi.spyOn(net.Socket.prototype, 'connect');
      const words = ['run', '--model', 'fox/tales', '--prompt', 'Once', '--raw', '--greedy', '--max-tokens', '4'];
      const ran = await playJson<CliRun>(home, 'cli-run', words, offline);
      expect(ran).toMatchObject({ generated_tokens: 4, finish_reason: 'length' });
      expect(ran.model).toBe('fox/tales');
      expect(ran.folder).toContain(path.join('models--fox--tales', 'snapshots'));
      expect(await playJson<CliInfo>(home, 'cli-info', ['info', 'fox/tales@main'], offline)).toMatchObject({
        model: 'fox/tales@main',
        folder: ran.folder,
      });
      const ids = await playJson<CliTokenize>(home, 'cli-tokenize', ['tokenize', 'x', '--model', 'fox/tales'], offline);
      expect(ids).toMatchObject({ model: 'fox/tales', folder: ran.folder });
      expect(await play(home, ['arch', 'plan', 'fox/tales'], offline)).toMatchObject({ exit: 0 });
      expect(connect).not.toHaveBeenCalled();
    },
    BUSY,
  );

  it(
    'tells on a terminal what was loaded',
    async () => {
      await play(home, ['pull', 'fox/tales']);
      const words = ['run', '--model', 'fox/tales', '--prompt', 'x', '--max-tokens', '1'];
      const { err } = await play(home, words, { tty: true });
      expect(err).toMatch(
        /^fox\/tales · \S+ · 2\.\d+ M parameters · as stored · \S+ kernels · \d+ threads?\n {2}context \d+ tokens · /,
      );
    },
    BUSY,
  );

  it('tells in kvad info where each sampling value comes from', async () => {
    hub.add('owl/mine', {
      ...folderContents(BUNDLED_MODEL),
      'generation_config.json': '{"temperature":0.25,"top_k":7}',
    });
    await play(home, ['pull', 'owl/mine']);
    const { sampling } = await playJson<CliInfo>(home, 'cli-info', ['info', 'owl/mine']);
    expect(sampling).toMatchObject({
      temperature: { value: 0.25, source: 'generation_config.json' },
      top_k: { value: 7, source: 'generation_config.json' },
      top_p: { value: 0.95, source: 'kvad' },
    });
  });

  it('a file that was damaged since is refused with the command that mends it', async () => {
    await play(home, ['pull', 'fox/tales']);
    const { folder } = await playJson<CliInfo>(home, 'cli-info', ['info', 'fox/tales'], offline);
    for (const [name, code] of [
      ['model.safetensors', 'KVAD_E_SAFETENSORS_TRUNCATED'],
      ['tokenizer.json', 'KVAD_E_TOKENIZER_INVALID'],
    ] as const) {
      truncateSync(path.join(folder, name), 1_000);
      const refused = await play(home, ['info', 'fox/tales'], offline);
      const [, command = ''] = /hint: kvad (pull --verify fox\/tales@[0-9a-f]{40}) fetches/.exec(refused.err) ?? [];
      expect([refused.exit, refused.err]).toEqual([1, expect.stringContaining(code.toLowerCase())]);
      expect((await play(home, command.split(' '))).exit).toBe(0);
      expect((await play(home, ['info', 'fox/tales'], offline)).exit).toBe(0);
    }
  });

  it('one that was not pulled is refused with the way to get it', async () => {
    const { exit, err } = await play(home, ['run', '--model', 'fox/none', '--prompt', 'x', '--json'], offline);
    expect({ exit, error: JSON.parse(err) as unknown }).toMatchObject({
      exit: 1,
      error: { code: 'KVAD_E_MODEL_NOT_FOUND', hint: 'kvad pull fox/none downloads it from the Hub' },
    });
  });
});

describe('kvad ls', () => {
  const list = async (): Promise<CliLs['models']> => (await playJson<CliLs>(home, 'cli-ls', ['ls'])).models;

  it('tells size, architecture, kind, and what runs; the default has a mark', async () => {
    expect(await list()).toEqual([]);
    await play(home, ['pull', 'fox/tales']);
    await play(home, ['use', 'fox/tales']);
    const [tales] = await list();
    expect(tales).toMatchObject({ id: 'fox/tales', refs: ['main'], whole: true, default: true });
    expect(tales).toMatchObject({ kind: 'instruct', runs: { able: true, precision: 'as stored', reason: null } });
    expect(tales!.bytes).toBeGreaterThan(4_000_000);
    const { out } = await play(home, ['ls']);
    expect(out).toMatch(
      /^MODEL +SIZE +ARCHITECTURE +KIND +COMMIT +STATE +RUNS\nfox\/tales \* +4\.\d+ MB .* instruct .* whole +as stored\n/,
    );
  });

  it('tells what is not whole, what nobody knows, and revisions by name', async () => {
    cacheSnapshot(home.cache, 'a/part', ONE, { 'config.json': '{}', 'model-00001-of-00002.safetensors': 'x' });
    cacheSnapshot(home.cache, 'a/damaged', ONE, { 'config.json': '{}', 'model.safetensors': null });
    cacheSnapshot(home.cache, 'a/strange', ONE, { 'config.json': '{"model_type":"zz"}', 'model.safetensors': 'x' }, [
      'v1',
    ]);
    writeFileSync(path.join(home.cache, 'version.txt'), '1');
    mkdirSync(path.join(home.cache, 'datasets--a--b'));
    const found = (await list()).map(({ id, whole, missing, damaged, runs }) => [
      id,
      whole,
      missing,
      damaged,
      runs.reason,
    ]);
    expect(found).toEqual([
      ['a/damaged', false, [], ['model.safetensors'], 'it is not whole'],
      ['a/part', false, ['model-00002-of-00002.safetensors'], [], 'it is not whole'],
      ['a/strange', true, [], [], 'no plugin knows zz'],
    ]);
    const { out } = await play(home, ['ls']);
    expect(out).toContain('a/strange@v1');
    expect(out).toContain('damaged model.safetensors');
  });
});

describe('whether a model runs here', () => {
  const registry = { modelTypes: new Map([['known', {} as never]]) };
  const runs = (modelType: string | null, parameters: number | null) =>
    runsHere({ modelType, parameters, storedBytes: parameters && parameters * 2 }, registry, 10e9);

  it.each([
    ['known', 4e9, true, 'as stored'],
    ['known', 8e9, true, 'q8'],
    ['known', 15e9, true, 'q4'],
    ['known', 70e9, false, null],
    ['known', null, true, null],
    ['other', 1e9, false, null],
    [null, 1e9, false, null],
  ])('%s with %s parameters in 10 GB: %s %s', (type, parameters, able, precision) => {
    expect(runs(type, parameters)).toMatchObject({ able, precision });
  });
});

describe('kvad use', () => {
  it('keeps a choice, shows it, and goes back', async () => {
    expect(await playJson<CliUse>(home, 'cli-use', ['use'])).toMatchObject({ model: null, source: 'bundled' });
    const folder = cacheSnapshot(home.cache, 'a/b', ONE, { 'config.json': '{}', 'model.safetensors': 'x' });
    expect(await playJson<CliUse>(home, 'cli-use', ['use', 'a/b'])).toMatchObject({ model: 'a/b', folder });
    mkdirSync(path.join(home.folder, 'here'));
    const here = path.join(home.folder, 'here');
    expect(await playJson<CliUse>(home, 'cli-use', ['use', './here'])).toMatchObject({ model: here, source: 'user' });
    rmSync(here, { recursive: true });
    const gone = await play(home, ['use', '--json']);
    expect({ exit: gone.exit, ...(JSON.parse(gone.err) as object) }).toMatchObject({
      exit: 1,
      code: 'KVAD_E_DEFAULT_MODEL_GONE',
    });
    expect(gone.err).toContain(here);
    expect(await playJson<CliUse>(home, 'cli-use', ['use', '--bundled'])).toMatchObject({ model: null });
  });

  it('refuses what is not there, and keeps what was', async () => {
    expect(await play(home, ['use', 'a/none'])).toMatchObject({ exit: 1 });
    expect(await playJson<CliUse>(home, 'cli-use', ['use'])).toMatchObject({ model: null });
  });
});

describe('kvad rm', () => {
  const WHOLE = { 'config.json': '{}', 'model.safetensors': 'x'.repeat(1000) };
  const repo = (): string => path.join(home.cache, 'models--a--b');

  it('deletes one revision and what no other one shares', async () => {
    cacheSnapshot(home.cache, 'a/b', ONE, WHOLE, ['v1']);
    const two = cacheSnapshot(home.cache, 'a/b', TWO, { ...WHOLE, 'config.json': '{"a":1}' });
    mkdirSync(path.join(repo(), '.no_exist', ONE), { recursive: true });
    const removed = await playJson<CliRm>(home, 'cli-rm', ['rm', 'a/b@v1', '--yes']);
    expect(removed).toMatchObject({ commits: [ONE], bytes: 2 });
    expect(readdirSync(path.join(repo(), 'snapshots'))).toEqual([TWO]);
    expect(readdirSync(path.join(repo(), 'refs'))).toEqual(['main']);
    expect(readdirSync(path.join(repo(), 'blobs'))).toHaveLength(2);
    expect(existsSync(path.join(two, 'model.safetensors'))).toBe(true);
  });

  it('deletes all of a model, and says so where it was the default', async () => {
    cacheSnapshot(home.cache, 'a/b', ONE, WHOLE);
    await play(home, ['use', 'a/b']);
    const removed = await play(home, ['rm', 'a/b', '-y']);
    expect(removed).toMatchObject({ exit: 0, err: expect.stringContaining('a/b is the default model') as string });
    expect(existsSync(repo())).toBe(false);
  });

  it('deletes nothing outside of the blobs, wherever a link leads', async () => {
    const snapshot = cacheSnapshot(home.cache, 'a/b', ONE, WHOLE, ['v1']);
    cacheSnapshot(home.cache, 'a/b', TWO, WHOLE);
    const mine = path.join(home.folder, 'mine.txt');
    writeFileSync(mine, 'precious');
    symlinkSync(mine, path.join(snapshot, 'link.txt'));
    await play(home, ['rm', 'a/b@v1', '--yes']);
    expect(existsSync(mine)).toBe(true);
  });

  it.each([
    ['y\n', 0, false],
    ['no\n', 1, true],
    ['\n', 1, true],
  ])('asks on a terminal: %j', async (stdin, exit, there) => {
    cacheSnapshot(home.cache, 'a/b', ONE, WHOLE);
    const asked = await play(home, ['rm', 'a/b'], { tty: true, stdin });
    expect(asked).toMatchObject({ exit, err: expect.stringContaining('delete a/b, ') as string });
    expect(existsSync(repo())).toBe(there);
  });

  it('wants --yes where nobody can be asked, and refuses what is not in the cache', async () => {
    cacheSnapshot(home.cache, 'a/b', ONE, WHOLE);
    expect(await play(home, ['rm', 'a/b'])).toMatchObject({ exit: 2 });
    expect(existsSync(repo())).toBe(true);
    const refused = [['a/none'], ['../b'], ['.'], ['a/b@v9']].map((words) =>
      play(home, ['rm', ...words, '--yes', '--json']),
    );
    const codes = (await Promise.all(refused)).map(({ err }) => (JSON.parse(err) as { code: string }).code);
    expect(codes).toEqual(['KVAD_E_HUB_NOT_CACHED', 'KVAD_E_USAGE', 'KVAD_E_USAGE', 'KVAD_E_HUB_REVISION_ABSENT']);
    expect(existsSync(repo())).toBe(true);
  });
});

describe('kvad search', () => {
  it('tells downloads, size, architecture, kind and whether it runs', async () => {
    const { models } = await playJson<CliSearch>(home, 'cli-search', ['search', 'fox']);
    expect(models.map(({ id, downloads, gated, runs }) => [id, downloads, gated, runs.able, runs.reason])).toEqual([
      ['fox/tales', 1234, false, true, null],
      ['fox/strange', 9, false, false, 'no plugin knows never-heard-of'],
      ['fox/files', 5, true, false, 'no safetensors files'],
    ]);
    expect(models[0]).toMatchObject({ kind: 'instruct', in_cache: false, runs: { precision: 'as stored' } });
    expect(models[0]!.bytes).toBeGreaterThan(4_000_000);
    const { out } = await play(home, ['search', 'fox', '--limit', '2']);
    expect(out).toMatch(/^MODEL +DOWNLOADS +SIZE +ARCHITECTURE +KIND +RUNS\nfox\/tales +1\.23 K +4\.\d+ MB /);
    expect(out).toContain('\n1 of 2 run here');
  });

  it('finds nothing, or nobody', async () => {
    expect(await play(home, ['search', 'wolf'])).toMatchObject({
      exit: 0,
      out: expect.stringContaining('no model of') as string,
    });
    expect(await play(home, ['search', 'fox'], offline)).toMatchObject({ exit: 1 });
  });
});

describe('kvad doctor', () => {
  const examine = (env: Record<string, string> = {}) => playJson<CliDoctor>(home, 'cli-doctor', ['doctor'], { env });
  const state = ({ checks }: CliDoctor, name: string): unknown => checks.find((check) => check.name === name)?.state;

  it('looks at all parts, and asks the Hub unless offline', async () => {
    const online = await examine();
    expect(online.healthy).toBe(true);
    expect(online.checks.map(({ name }) => name)).toEqual([
      ...[
        'node',
        'cpu',
        'kernels',
        'threads',
        'memory',
        'bundled model',
        'default model',
        'model cache',
        'quant cache',
      ],
      ...['plugins', 'hub'],
    ]);
    expect(state(online, 'hub')).toBe('ok');
    expect(state(await examine({ HF_HUB_OFFLINE: '1' }), 'hub')).toBe('skipped');
  });

  it('exits with 1 where something is broken: a default that is gone, kernels that are not there', async () => {
    mkdirSync(path.join(home.folder, 'config', 'kvad'), { recursive: true });
    writeFileSync(path.join(home.folder, 'config', 'kvad', 'state.json'), '{"model":"a/gone"}');
    const { exit, out } = await play(home, ['doctor', '--json'], { env: { KVAD_CPU: 'abacus', HF_HUB_OFFLINE: '1' } });
    const found = JSON.parse(out) as CliDoctor;
    expect({ exit, healthy: found.healthy }).toEqual({ exit: 1, healthy: false });
    expect([state(found, 'default model'), state(found, 'kernels')]).toEqual(['broken', 'broken']);
  });
});
