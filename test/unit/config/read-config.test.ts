import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readConfig } from '@kvad/core';
import { afterEach, beforeEach, expect, it } from 'vitest';

let folder: string;
beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'kvad-read-config-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('reads an object, with or without a byte order mark', () => {
  const file = path.join(folder, 'config.json');
  writeFileSync(file, '\uFEFF{"model_type":"made"}');
  expect(readConfig(file)).toEqual({ model_type: 'made' });
});

it.each<[string | Buffer, string]>([
  ['{"model_type":', 'it is no JSON'],
  ['[]', 'it holds no JSON object'],
  ['', 'it is no JSON'],
  [`{"x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, 'it is nested in more than 64 levels'],
  [`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`, 'it is nested in more than 64 levels'],
  [Buffer.from('{"model_type":"\xff"}', 'latin1'), 'not valid'],
])('%.40s is refused', (text, reason) => {
  const file = path.join(folder, 'config.json');
  writeFileSync(file, text);
  expect(() => readConfig(file)).toThrow(
    expect.objectContaining({
      code: 'KVAD_E_CONFIG_READ',
      params: { file, reason: expect.stringContaining(reason) as string },
    }),
  );
});

it.skipIf(process.platform === 'win32')('what is no file is refused, and no pipe is waited for', () => {
  const file = path.join(folder, 'config.json');
  execFileSync('mkfifo', [file]);
  for (const name of [file, folder]) {
    expect(() => readConfig(name)).toThrow(
      expect.objectContaining({ code: 'KVAD_E_CONFIG_READ', params: { file: name, reason: 'it is no file' } }),
    );
  }
});

it('a file that is not there is refused', () => {
  expect(() => readConfig(path.join(folder, 'no.json'))).toThrow(
    expect.objectContaining({ code: 'KVAD_E_CONFIG_READ' }),
  );
});
