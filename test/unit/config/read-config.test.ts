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

it.each([
  ['{"model_type":', 'it is no JSON'],
  ['[]', 'it holds no JSON object'],
  ['', 'it is no JSON'],
])('%j is refused', (text, reason) => {
  const file = path.join(folder, 'config.json');
  writeFileSync(file, text);
  expect(() => readConfig(file)).toThrow(
    expect.objectContaining({
      code: 'KVAD_E_CONFIG_READ',
      params: { file, reason: expect.stringContaining(reason) as string },
    }),
  );
});

it('a file that is not there is refused', () => {
  expect(() => readConfig(path.join(folder, 'no.json'))).toThrow(
    expect.objectContaining({ code: 'KVAD_E_CONFIG_READ' }),
  );
});
