import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadOptions } from '../../../cli/dist/commands/load-options.js';
import { BUNDLED_MODEL, modelFolder } from '../../../cli/dist/model-folder.js';
import { readTokenFile } from '../../../cli/dist/commands/token-file.js';
import { readInput, readJsonInput } from '../../../cli/dist/io/read-input.js';
import { fakeIo } from './fake-io.js';

const folder = mkdtempSync(path.join(tmpdir(), 'kvad-cli-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, content: string): string => {
  writeFileSync(path.join(folder, name), content);
  return name;
};

const places = { workingDirectory: folder, env: { HF_HOME: folder, XDG_CONFIG_HOME: folder } };

describe('a model argument', () => {
  it('absent is the bundled model', () => {
    expect(modelFolder(undefined, places)).toBe(BUNDLED_MODEL);
  });

  it('is a folder, seen from where the user stands', () => {
    expect(modelFolder('.', places)).toBe(folder);
    expect(modelFolder(folder, { ...places, workingDirectory: '/' })).toBe(folder);
  });

  it.each([
    ['owner/name', /it is not in the model cache/],
    ['owner/name@main', /it is not in the model cache/],
    ['./owner/name', /no folder has that name/],
    ['~/models/x', /no folder has that name/],
    ['name', /no folder has that name/],
  ])('%s that is not there: says what it could have been', (model, message) => {
    expect(() => modelFolder(model, places)).toThrow(message);
  });

  it('that is a file is refused as one', () => {
    expect(() => modelFolder(file('config.json', '{}'), places)).toThrow(/it is a file, not a folder/);
  });
});

describe('files that a command reads', () => {
  const io = fakeIo({ cwd: folder, stdin: '[1, 2]\n' });

  it('are read from stdin for -', async () => {
    expect(await readTokenFile(io, '-')).toEqual([1, 2]);
  });

  it('are seen from where the user stands', async () => {
    expect(await readInput(io, file('words.txt', 'two\nlines\n'))).toBe('two\nlines\n');
  });

  it('that are no UTF-8 are refused, and stdin too', async () => {
    writeFileSync(path.join(folder, 'latin1.txt'), Buffer.from('caf\xe9', 'latin1'));
    const refusal = { code: 'KVAD_E_INPUT_SHAPE', message: /bytes that are not UTF-8/ };
    await expect(readInput(io, 'latin1.txt')).rejects.toMatchObject(refusal);
    const stdin = fakeIo({ stdin: Buffer.from([0xff, 0xfe]) });
    await expect(readInput(stdin, '-')).rejects.toMatchObject(refusal);
  });

  it('that are absent, no file or no JSON are refused by name', async () => {
    await expect(readInput(io, 'absent.json')).rejects.toMatchObject({
      code: 'KVAD_E_FILE',
      message: /absent\.json: it does not exist/,
    });
    await expect(readInput(io, '.')).rejects.toMatchObject({ code: 'KVAD_E_FILE', message: /it is a folder/ });
    await expect(readJsonInput(io, file('broken.json', '{"a":'))).rejects.toMatchObject({ code: 'KVAD_E_INPUT_JSON' });
  });

  it('hold ids as a list, or as kvad tokenize --json writes them', async () => {
    expect(await readTokenFile(io, file('list.json', '[5, 0]'))).toEqual([5, 0]);
    expect(await readTokenFile(io, file('object.json', '{"object": "kvad.tokenize", "ids": [7]}'))).toEqual([7]);
  });

  it.each([
    ['[1, -2]', /-2 at place 1/],
    ['[1.5]', /1.5 at place 0/],
    ['["1"]', /"1" at place 0/],
    ['[]', /no ids/],
    ['{"tokens": [1]}', /something else/],
    ['null', /something else/],
  ])('%s is not a list of ids', async (content, message) => {
    await expect(readTokenFile(io, file('ids.json', content))).rejects.toMatchObject({
      code: 'KVAD_E_INPUT_SHAPE',
      message,
    });
  });
});

describe('how a model is loaded', () => {
  it('flags stand before the environment', () => {
    const io = fakeIo({ env: { KVAD_THREADS: '3', KVAD_REQUIRE_NATIVE: '1' } });
    expect(loadOptions(io, {})).toEqual({ threads: 3, requireNative: true });
    expect(loadOptions(io, { threads: 2, quant: 'q8', lenient: true })).toEqual({
      threads: 2,
      quant: 'q8',
      lenient: true,
      requireNative: true,
    });
  });

  it.each([['0'], ['-1'], ['two'], ['1.5'], ['1e9']])('KVAD_THREADS=%s is refused', (value) => {
    expect(() => loadOptions(fakeIo({ env: { KVAD_THREADS: value } }), {})).toThrow(/KVAD_THREADS is/);
  });

  it.each([['0'], [''], ['false']])('KVAD_REQUIRE_NATIVE=%s is off', (value) => {
    expect(loadOptions(fakeIo({ env: { KVAD_REQUIRE_NATIVE: value } }), {})).toEqual({ requireNative: false });
  });
});
