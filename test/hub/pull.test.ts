import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import type { CliPull } from '@kvad/schemas';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { progressText } from '../../cli/dist/commands/pull-progress.js';
import { LocalHub } from './local-hub.js';
import { play, playJson, spawnKvad } from './play.js';
import { gitSha1, type Contents } from './repository.js';
import { temporaryHome, type Home } from './temporary-home.js';

const SHARDS = [1, 2, 3].map((n) => `model-0000${n}-of-00003.safetensors`);
const shard = (n: number): Buffer => Buffer.alloc(300_000, `content of shard ${n}`);
const SHARDED: Contents = {
  'config.json': '{"model_type":"x"}',
  'tokenizer.json': '{}',
  'vocab.json': '{}',
  'model.safetensors.index.json': JSON.stringify({ weight_map: { a: SHARDS[0], b: SHARDS[1], c: SHARDS[2] } }),
  ...Object.fromEntries(SHARDS.map((name, n) => [name, shard(n)])),
  'additional_chat_templates/tool.jinja': '{{ messages }}',
  'pytorch_model.bin': Buffer.alloc(1000),
  'onnx/model.onnx': Buffer.alloc(1000),
  'original/consolidated.safetensors': Buffer.alloc(5000),
  'README.md': 'words',
};

let hub: LocalHub;
let home: Home;
let commit: string;

beforeAll(async () => {
  hub = await LocalHub.start();
  commit = hub.add('owner/sharded', SHARDED);
});
afterAll(() => hub.stop());
beforeEach(() => {
  home = temporaryHome(hub);
  hub.requests.length = 0;
});
afterEach(() => {
  home.remove();
  hub.mishaps.length = 0;
});

const repo = (): string => path.join(home.cache, 'models--owner--sharded');
const pull = (words: string[] = [], warns = /^$/) =>
  playJson<CliPull>(home, 'cli-pull', ['pull', 'owner/sharded', ...words], { warns });
const blobs = (): string[] => readdirSync(path.join(repo(), 'blobs')).sort();
const expectWhole = (): void => {
  const folder = path.join(repo(), 'snapshots', commit);
  for (const [n, name] of SHARDS.entries()) expect(readFileSync(path.join(folder, name)).equals(shard(n))).toBe(true);
};

describe('kvad pull', () => {
  it('fetches what a run needs, in the layout of Python', async () => {
    const result = await pull();
    expect(result).toMatchObject({ model: 'owner/sharded', revision: null, commit, from_cache: false });
    expect(result.left_out.map((file) => file.path)).toEqual([
      ...['README.md', 'onnx/model.onnx', 'original/consolidated.safetensors', 'pytorch_model.bin', 'vocab.json'],
    ]);
    const snapshot = path.join(repo(), 'snapshots', commit);
    expect(result.folder).toBe(snapshot);
    expect(readFileSync(path.join(repo(), 'refs', 'main'), 'utf8')).toBe(commit);
    expect(readlinkSync(path.join(snapshot, 'config.json'))).toBe(
      `../../blobs/${gitSha1(Buffer.from('{"model_type":"x"}'))}`,
    );
    expect(readlinkSync(path.join(snapshot, SHARDS[0]!))).toMatch(/^\.\.\/\.\.\/blobs\/[0-9a-f]{64}$/);
    expect(readlinkSync(path.join(snapshot, 'additional_chat_templates/tool.jinja'))).toMatch(
      /^(\.\.\/){3}blobs\/[0-9a-f]{40}$/,
    );
    expect(readFileSync(path.join(home.cache, 'CACHEDIR.TAG'), 'utf8')).toMatch(
      /^Signature: 8a477f597d28d172789f06886806bc55/,
    );
    expect(blobs().filter((name) => !/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(name))).toEqual([]);
    expectWhole();
  });

  it('fetches nothing twice, and only what another commit changes', async () => {
    await pull();
    hub.requests.length = 0;
    expect(await pull()).toMatchObject({ fetched_bytes: 0, from_cache: false });
    expect(hub.seen('/resolve/')).toEqual([]);
    hub.add('owner/moving', SHARDED);
    await play(home, ['pull', 'owner/moving']);
    hub.add('owner/moving', { ...SHARDED, 'config.json': '{"model_type":"y"}' });
    const next = await playJson<CliPull>(home, 'cli-pull', ['pull', 'owner/moving']);
    expect(next.files.filter(({ state }) => state === 'fetched').map((file) => file.path)).toEqual(['config.json']);
  });

  it('asks nobody for a commit that is whole, nor offline', async () => {
    await pull();
    hub.requests.length = 0;
    const named = await playJson<CliPull>(home, 'cli-pull', ['pull', `owner/sharded@${commit}`]);
    const offline = await playJson<CliPull>(home, 'cli-pull', ['pull', 'owner/sharded'], {
      env: { HF_HUB_OFFLINE: '1' },
    });
    expect([named.from_cache, offline.from_cache, hub.requests.length]).toEqual([true, true, 0]);
    const other = await play(home, ['pull', 'owner/other'], { env: { HF_HUB_OFFLINE: '1' } });
    expect(other).toMatchObject({ exit: 1, err: expect.stringContaining('HF_HUB_OFFLINE is set') as string });
  });

  it('takes a tag, and writes it beside main', async () => {
    hub.tag('owner/sharded', 'v1', commit);
    await playJson(home, 'cli-pull', ['pull', 'owner/sharded@v1']);
    expect(readFileSync(path.join(repo(), 'refs', 'v1'), 'utf8')).toBe(commit);
  });

  it('copies where links are forbidden', async () => {
    await playJson(home, 'cli-pull', ['pull', 'owner/sharded'], { env: { HF_HUB_DISABLE_SYMLINKS: '1' } });
    expect(lstatSync(path.join(repo(), 'snapshots', commit, SHARDS[0]!)).isFile()).toBe(true);
    expectWhole();
  });

  it('shows a bar on a terminal, and nothing but the answer elsewhere', async () => {
    const seen = await play(home, ['pull', 'owner/sharded'], { tty: true });
    expect(seen.err).toMatch(/\d+ % ▕.*▏ .* of .* files/);
    const progress = { bytes: 4.5e8, totalBytes: 1e9, files: 3, totalFiles: 9 };
    expect(progressText(progress, 1e7)).toBe(
      '45 % ▕██████        ▏ 450.0 MB of 1.00 GB · 3 of 9 files · 10.0 MB/s · ETA 0:55',
    );
    expect(seen.out).toContain('left out, no run needs them: original/consolidated.safetensors, ');
    expect((await play(home, ['pull', 'owner/sharded'])).err).toBe('');
  });
});

describe('a download that goes wrong', () => {
  it('goes on where the connection was cut', async () => {
    hub.mishaps.push({ path: SHARDS[1]!, host: 'files', kind: 'cut', after: 100_000 });
    await pull([], /trying again in 0\.2 s\n$/);
    const ranges = hub.seen('/lfs/').map(({ headers }) => headers.range ?? null);
    expect(ranges).toHaveLength(4);
    expect(ranges.filter((range) => range !== null)).toEqual([expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
    expectWhole();
  });

  it('ends with 130 at Ctrl-C, keeps what came, and goes on from there', async () => {
    hub.mishaps.push({ path: SHARDS[1]!, host: 'files', kind: 'stall', after: 100_000 });
    const child = spawnKvad(home, ['pull', 'owner/sharded']);
    const unfinished = (): number => {
      if (!existsSync(path.join(repo(), 'blobs'))) return 0;
      const [name] = blobs().filter((one) => one.endsWith('.incomplete'));
      return name === undefined ? 0 : lstatSync(path.join(repo(), 'blobs', name)).size;
    };
    await expect.poll(unfinished, { timeout: 60_000, interval: 20 }).toBe(100_000);
    child.kill();
    expect(await child.done).toMatchObject({
      exit: 130,
      out: '',
      err: expect.stringContaining('goes on from here') as string,
    });
    expect(existsSync(path.join(repo(), 'refs'))).toBe(false);
    hub.requests.length = 0;
    await pull();
    expect(hub.seen('/lfs/').map(({ headers }) => headers.range)).toContain('bytes=100000-');
    expectWhole();
  });

  it('begins anew where the host knows no ranges', async () => {
    hub.mishaps.push({ path: SHARDS[1]!, host: 'files', kind: 'cut', after: 100_000 });
    hub.mishaps.push({ path: SHARDS[1]!, host: 'files', kind: 'no-range' });
    await pull([], /trying again/);
    expectWhole();
  });

  it('begins anew where what lies there is something else', async () => {
    await pull();
    const digits = path.basename(readlinkSync(path.join(repo(), 'snapshots', commit, SHARDS[1]!)));
    home.remove();
    mkdirSync(path.join(repo(), 'blobs'), { recursive: true });
    writeFileSync(path.join(repo(), 'blobs', `${digits}.incomplete`), Buffer.alloc(1000, 'not this file'));
    await pull();
    expectWhole();
  });

  it('fetches a file with a wrong byte once more, and then refuses it', async () => {
    hub.mishaps.push({ path: SHARDS[1]!, host: 'files', kind: 'wrong-byte', at: 77 });
    await pull();
    expectWhole();
    home.remove();
    hub.mishaps.push({ path: SHARDS[1]!, host: 'files', kind: 'wrong-byte', at: 77, times: 2 });
    const failed = await play(home, ['pull', 'owner/sharded', '--json']);
    expect(failed).toMatchObject({ exit: 1, out: '' });
    expect(JSON.parse(failed.err)).toMatchObject({ code: 'KVAD_E_HUB_CHECKSUM' });
    expect(failed.err).toContain(SHARDS[1]);
    expect(existsSync(path.join(repo(), 'refs'))).toBe(false);
  });

  it('checks small files too', async () => {
    hub.mishaps.push({ path: 'resolve', kind: 'wrong-byte', at: 3, times: 1 });
    await pull();
    expect(readFileSync(path.join(repo(), 'snapshots', commit, 'config.json'), 'utf8')).toBe('{"model_type":"x"}');
  });

  it('mends with --verify what was damaged in the cache', async () => {
    const { folder } = await pull();
    writeFileSync(path.join(folder, SHARDS[2]!), shard(0));
    expect(await pull()).toMatchObject({ fetched_bytes: 0 });
    expect(await pull(['--verify'])).toMatchObject({ fetched_bytes: 300_000 });
    expectWhole();
  });

  it('is not begun where the disk has no room', async () => {
    hub.add('owner/huge', { ...SHARDED }, { claims: { [SHARDS[0]!]: 2 ** 52 } });
    const failed = await play(home, ['pull', 'owner/huge']);
    expect(failed).toMatchObject({
      exit: 1,
      err: expect.stringMatching(/owner\/huge needs \d+\.\d\d GB in .*, which has/) as string,
    });
    expect(hub.seen('/lfs/')).toEqual([]);
  });

  it('is refused where there is nothing that could run', async () => {
    hub.add('owner/ggufs', { 'README.md': 'x', 'm.Q4_K_M.gguf': Buffer.alloc(9) });
    const failed = await play(home, ['pull', 'owner/ggufs']);
    expect(failed).toMatchObject({ exit: 1, err: expect.stringContaining('owner/ggufs holds a GGUF model') as string });
    expect(existsSync(path.join(home.cache, 'models--owner--ggufs'))).toBe(false);
  });

  it('says of a cache that cannot be written which one', async () => {
    writeFileSync(path.join(home.folder, 'hf'), 'a file');
    const failed = await play(home, ['pull', 'owner/sharded', '--json']);
    expect(JSON.parse(failed.err)).toMatchObject({ code: 'KVAD_E_HUB_CACHE' });
  });
});

describe('two processes', () => {
  it('that pull the same model fetch each file once', async () => {
    const both = await Promise.all([1, 2].map(() => spawnKvad(home, ['pull', 'owner/sharded']).done));
    expect(both.map(({ exit, err }) => ({ exit, err: exit === 0 ? '' : err }))).toEqual([
      { exit: 0, err: '' },
      { exit: 0, err: '' },
    ]);
    expect(hub.seen('/lfs/')).toHaveLength(3);
    expectWhole();
  });

  it('one of which was killed: its lock is taken over', async () => {
    const folder = path.join(home.cache, '.locks', 'models--owner--sharded');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      path.join(folder, 'kvad-pull.lock'),
      JSON.stringify({ pid: 2 ** 22 + 1, host: hostname(), key: 'x' }),
    );
    await pull();
    expect(readdirSync(folder)).toEqual([]);
    expectWhole();
  });
});
