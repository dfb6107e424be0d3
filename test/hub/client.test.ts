import { mkdirSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { HubClient, hubSettings, parseModelId, type HubSettings } from '@kvad/core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { LocalHub } from './local-hub.js';
import { temporaryHome } from './temporary-home.js';

const WEIGHTS = Buffer.from('0123456789abcdef');
let hub: LocalHub;

beforeAll(async () => {
  hub = await LocalHub.start();
  hub.add('owner/open', { 'config.json': '{"model_type":"x"}', 'model.safetensors': WEIGHTS, 'sub/a b.txt': 'deep' });
  hub.add(
    'owner/gated',
    { 'config.json': '{}', 'model.safetensors': WEIGHTS },
    { gated: 'manual', allowed: ['hf_in'] },
  );
  hub.add('owner/secret', { 'config.json': '{}' }, { private: true, allowed: ['hf_in'] });
});
afterAll(() => hub.stop());
afterEach(() => {
  hub.mishaps.length = 0;
  hub.requests.length = 0;
});

const client = (env: Record<string, string> = {}, settings: Partial<HubSettings> = {}): HubClient =>
  new HubClient({ ...hubSettings({ HF_ENDPOINT: hub.endpoint, HF_HOME: '/nonexistent', ...env }), ...settings });
const model = (name: string) => parseModelId(name)!;

describe('a file of the Hub', () => {
  it('comes as JSON, as text, and from a folder below', async () => {
    expect(await client().fetchJson(model('owner/open'), 'config.json')).toEqual({ model_type: 'x' });
    expect(await client().fetchText(model('owner/open@main'), 'sub/a b.txt')).toBe('deep');
  });

  it('comes as a range of bytes, which crosses no more than was asked for', async () => {
    const bytes = await client().fetchRange(model('owner/open'), 'model.safetensors', 3, 7);
    expect(Buffer.from(bytes).toString()).toBe('3456');
    expect(hub.seen('/lfs/')).toMatchObject([{ headers: { range: 'bytes=3-6' } }]);
    expect(await client().fetchRange(model('owner/open'), 'model.safetensors', 14, 99)).toHaveLength(2);
    expect(await client().fetchRange(model('owner/open'), 'model.safetensors', 99, 100)).toHaveLength(0);
  });

  it('is not taken whole where only a range was asked for', async () => {
    hub.mishaps.push({ path: 'model.safetensors', host: 'files', kind: 'no-range' });
    await expect(client().fetchRange(model('owner/open'), 'model.safetensors', 0, 4)).rejects.toMatchObject({
      code: 'KVAD_E_HUB_ANSWER',
    });
  });

  it('is asked for with the token at the endpoint, and never at the host that it redirects to', async () => {
    const bytes = await client({ HF_TOKEN: 'hf_in' }).fetchRange(model('owner/gated'), 'model.safetensors', 0, 4);
    expect(Buffer.from(bytes).toString()).toBe('0123');
    const sent = hub.requests.map(({ host, headers }) => [host, headers.authorization]);
    expect(sent).toEqual([
      ['hub', 'Bearer hf_in'],
      ['files', undefined],
    ]);
  });

  it('has a commit, whatever the revision is called', async () => {
    const commit = await client().commitOf(model('owner/open'));
    hub.tag('owner/open', 'refs/pr/1', commit);
    expect(commit).toMatch(/^[0-9a-f]{40}$/);
    expect(await client().commitOf(model(`owner/open@${commit.slice(0, 8)}`))).toBe(commit);
    expect(await client().commitOf(model('owner/open@refs/pr/1'))).toBe(commit);
    const files = await client().listFiles(model('owner/open'), commit);
    expect(files.map(({ path, bytes, hash: { kind } }) => [path, bytes, kind])).toEqual([
      ['config.json', 18, 'git-sha1'],
      ['model.safetensors', 16, 'sha256'],
      ['sub/a b.txt', 4, 'git-sha1'],
    ]);
  });
});

describe('what the Hub refuses is explained', () => {
  it.each([
    ['owner/none', 'config.json', {}, 'KVAD_E_HUB_MODEL_ABSENT', 'or it is private'],
    ['owner/none', 'config.json', { HF_TOKEN: 'hf_x' }, 'KVAD_E_HUB_MODEL_ABSENT', 'has no model owner/none'],
    ['owner/secret', 'config.json', {}, 'KVAD_E_HUB_MODEL_ABSENT', 'or it is private'],
    ['owner/gated', 'config.json', {}, 'KVAD_E_HUB_GATED', 'owner/gated is gated'],
    ['owner/gated', 'config.json', { HF_TOKEN: 'hf_x' }, 'KVAD_E_HUB_GATED', 'owner/gated is gated'],
    ['owner/open@v9', 'config.json', {}, 'KVAD_E_HUB_REVISION_ABSENT', 'has no revision v9'],
    ['owner/open', 'none.json', {}, 'KVAD_E_HUB_FILE_ABSENT', 'owner/open has no file none.json'],
  ])('%s %s %j', async (name, file, env, code, words) => {
    const answer = client(env as Record<string, string>).fetchText(model(name), file);
    await expect(answer).rejects.toMatchObject({ code, message: expect.stringContaining(words) as string });
    expect(hub.requests).toHaveLength(1);
  });

  it('a token is HF_TOKEN, else what a login wrote into its file', () => {
    const home = temporaryHome(null);
    expect(hubSettings(home.env).token()).toBeNull();
    mkdirSync(home.env['HF_HOME']!, { recursive: true });
    writeFileSync(`${home.env['HF_HOME']}/token`, 'hf_file\n');
    expect(hubSettings(home.env).token()).toBe('hf_file');
    expect(hubSettings({ ...home.env, HF_TOKEN: ' hf_a\n' }).token()).toBe('hf_a');
    expect(hubSettings({ ...home.env, HF_HUB_DISABLE_IMPLICIT_TOKEN: '1' }).token()).toBeNull();
    home.remove();
  });

  it('a page of a login is no JSON', async () => {
    hub.mishaps.push({ path: 'config.json', kind: 'page' });
    await expect(client().fetchJson(model('owner/open'), 'config.json')).rejects.toMatchObject({
      code: 'KVAD_E_HUB_ANSWER',
      message: expect.stringContaining('not JSON') as string,
    });
  });

  it('a list of files that leads out of its folder', async () => {
    hub.add('owner/hostile', { '../../escape.json': '{}' });
    const commit = await client().commitOf(model('owner/hostile'));
    await expect(client().listFiles(model('owner/hostile'), commit)).rejects.toMatchObject({
      code: 'KVAD_E_HUB_ANSWER',
    });
  });
});

describe('what passes is tried again', () => {
  const text = () => client().fetchText(model('owner/open'), 'config.json');

  it.each([
    ['500', { kind: 'status', status: 500, times: 2 } as const, 3],
    ['429 that asks for no pause', { kind: 'status', status: 429, headers: { 'Retry-After': '0' } } as const, 2],
    ['a cut connection', { kind: 'cut', after: 3 } as const, 2],
  ])('%s', async (_, mishap, requests) => {
    hub.mishaps.push({ path: 'config.json', ...mishap });
    expect(await text()).toBe('{"model_type":"x"}');
    expect(hub.requests).toHaveLength(requests);
  });

  it('a connection that brings nothing more', async () => {
    hub.mishaps.push({ path: 'config.json', kind: 'stall', after: 3 });
    expect(await client({}, { patience: 400 }).fetchText(model('owner/open'), 'config.json')).toBe(
      '{"model_type":"x"}',
    );
  });

  it('not where the Hub asks for a long pause: that is told', async () => {
    hub.mishaps.push({ path: 'config.json', kind: 'status', status: 429, headers: { 'Retry-After': '3600' } });
    await expect(text()).rejects.toMatchObject({
      code: 'KVAD_E_HUB_STATUS',
      message: expect.stringContaining('429') as string,
    });
    expect(hub.requests).toHaveLength(1);
  });

  it('and told in the end, with the host and the reason', async () => {
    const nobody = client({ HF_ENDPOINT: 'http://127.0.0.1:1' });
    vi.spyOn(nobody.requests, 'fetch');
    await expect(nobody.fetchText(model('owner/open'), 'config.json')).rejects.toMatchObject({
      code: 'KVAD_E_HUB_UNREACHABLE',
      message: expect.stringContaining('127.0.0.1:1') as string,
    });
    expect(nobody.requests.fetch).toHaveBeenCalledTimes(5);
  });

  it('and ends at once when it is interrupted', async () => {
    const stop = new AbortController();
    hub.mishaps.push({ path: 'config.json', kind: 'meanwhile', act: () => stop.abort() });
    const stopped = new HubClient(hubSettings({ HF_ENDPOINT: hub.endpoint }), { signal: stop.signal });
    await expect(stopped.fetchText(model('owner/open'), 'config.json')).rejects.toThrow('aborted');
  });
});

it('offline, no socket is opened', async () => {
  const connect = vi.spyOn(net.Socket.prototype, 'connect');
  const offline = client({ HF_HUB_OFFLINE: '1' });
  const refused = { code: 'KVAD_E_HUB_OFFLINE' };
  await expect(offline.fetchText(model('owner/open'), 'config.json')).rejects.toMatchObject(refused);
  await expect(offline.commitOf(model('owner/open'))).rejects.toMatchObject(refused);
  await expect(offline.search('x', 1)).rejects.toMatchObject(refused);
  expect(connect).not.toHaveBeenCalled();
});

describe('names of models', () => {
  it.each([
    ['owner/name', { id: 'owner/name', revision: null }],
    ['owner/name@v1.0', { id: 'owner/name', revision: 'v1.0' }],
    ['owner/name@refs/pr/2', { id: 'owner/name', revision: 'refs/pr/2' }],
    ['name', null],
    ['owner/name/more', null],
    ['../name', null],
    ['owner/na--me', null],
    ['owner/name@', null],
    ['owner/name@../../x', null],
    ['./owner/name', null],
    ['owner/.hidden', null],
  ])('%s', (text, wanted) => expect(parseModelId(text)).toEqual(wanted));
});
