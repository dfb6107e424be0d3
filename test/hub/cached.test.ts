import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BUNDLED_MODEL, findModel } from '../../cli/dist/model-folder.js';
import { writeDefaultModel } from '../../cli/dist/default-model.js';
import { cacheSnapshot } from './cached-model.js';
import { temporaryHome, type Home } from './temporary-home.js';

const ONE = '1'.repeat(40);
const TWO = `2222222${'0'.repeat(33)}`;
const WHOLE = { 'config.json': '{}', 'model.safetensors': 'x' };

let home: Home;
beforeEach(() => void (home = temporaryHome(null)));
afterEach(() => home.remove());

const find = (model: string | null, needs: 'weights' | 'text' = 'weights') =>
  findModel(model, { workingDirectory: home.folder, env: home.env }, needs);

describe('a model of the Hub is found in the cache', () => {
  it('by branch, tag, commit and the first digits of a commit', () => {
    const one = cacheSnapshot(home.cache, 'owner/name', ONE, WHOLE, ['v1']);
    const two = cacheSnapshot(home.cache, 'owner/name', TWO, WHOLE, ['main']);
    const found = ['', '@main', '@v1', `@${ONE}`, `@${TWO}`, '@2222222'].map((at) => find(`owner/name${at}`).folder);
    expect(found).toEqual([two, two, one, one, two, two]);
  });

  it('without an owner, as the oldest models are called', () => {
    const snapshot = cacheSnapshot(home.cache, 'old', ONE, WHOLE);
    expect(find('old').folder).toBe(snapshot);
  });

  it('without refs, if there is one snapshot, which is told', () => {
    cacheSnapshot(home.cache, 'owner/name', ONE, WHOLE, []);
    expect(find('owner/name').warnings).toEqual([expect.stringContaining(`its only snapshot ${ONE} is used`)]);
    cacheSnapshot(home.cache, 'owner/name', TWO, WHOLE, []);
    expect(() => find('owner/name')).toThrow(`there are: ${ONE}, ${TWO}`);
  });

  it('behind a folder of the same name', () => {
    cacheSnapshot(home.cache, 'owner/name', ONE, WHOLE);
    mkdirSync(path.join(home.folder, 'owner/name'), { recursive: true });
    expect(find('owner/name')).toMatchObject({ folder: path.join(home.folder, 'owner/name'), id: null });
  });

  it('beside what Python and others leave there', () => {
    const snapshot = cacheSnapshot(home.cache, 'owner/name', ONE, WHOLE);
    const repo = path.dirname(path.dirname(snapshot));
    mkdirSync(path.join(repo, '.no_exist', ONE), { recursive: true });
    writeFileSync(path.join(repo, '.no_exist', ONE, 'chat_template.jinja'), '');
    writeFileSync(path.join(repo, 'snapshots', '.DS_Store'), '');
    writeFileSync(path.join(repo, 'blobs', 'abc.incomplete'), '');
    expect(find('owner/name').folder).toBe(snapshot);
  });
});

describe('a model that is not whole', () => {
  const index = JSON.stringify({
    weight_map: { a: 'model-00001-of-00002.safetensors', b: 'model-00002-of-00002.safetensors' },
  });

  it.each([
    [{ 'config.json': '{}' }, 'lacks weights (*.safetensors)'],
    [{ 'model.safetensors': 'x' }, 'lacks config.json'],
    [{ 'config.json': '{}', 'model.safetensors': null }, 'has a damaged model.safetensors'],
    [
      { 'config.json': '{}', 'model.safetensors.index.json': index, 'model-00001-of-00002.safetensors': 'x' },
      'lacks model-00002-of-00002.safetensors',
    ],
    [{ 'config.json': '{}', 'model-00002-of-00002.safetensors': 'x' }, 'lacks model-00001-of-00002.safetensors'],
  ])('%# says what it lacks', (contents, message) => {
    cacheSnapshot(home.cache, 'owner/name', ONE, contents);
    expect(() => find('owner/name')).toThrow(message);
    try {
      find('owner/name');
    } catch (error) {
      expect(error).toMatchObject({
        code: 'KVAD_E_HUB_INCOMPLETE',
        hint: 'kvad pull owner/name fetches what is missing',
      });
    }
  });

  it('serves commands that need no weights', () => {
    const snapshot = cacheSnapshot(home.cache, 'owner/name', ONE, { 'tokenizer.json': '{}' });
    expect(find('owner/name', 'text').folder).toBe(snapshot);
  });
});

describe('no model argument', () => {
  it('is the bundled model, until kvad use chose another', () => {
    expect(find(null).folder).toBe(BUNDLED_MODEL);
    const snapshot = cacheSnapshot(home.cache, 'owner/name', ONE, WHOLE);
    writeDefaultModel(home.env, 'owner/name');
    expect(find(null).folder).toBe(snapshot);
    writeDefaultModel(home.env, null);
    expect(find(null).folder).toBe(BUNDLED_MODEL);
  });

  it('names a choice that has vanished', () => {
    cacheSnapshot(home.cache, 'owner/name', ONE, WHOLE);
    writeDefaultModel(home.env, 'owner/name');
    rmSync(home.cache, { recursive: true });
    expect(() => find(null)).toThrow(
      /the default model owner\/name, which kvad use wrote into .*state\.json, cannot be used/,
    );
  });
});
