import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BUNDLED_MODEL } from '../../cli/dist/model-folder.js';
import { LocalHub } from './local-hub.js';
import { temporaryHome, type Home } from './temporary-home.js';

const script = path.resolve(import.meta.dirname, '../../scripts/acceptance.mjs');
let hub: LocalHub;
let home: Home;

beforeAll(async () => {
  hub = await LocalHub.start();
  hub.add('fox/tales', BUNDLED_MODEL);
  home = temporaryHome(hub);
});
afterAll(async () => {
  home.remove();
  await hub.stop();
});

it('npm run acceptance pulls, runs and checks the models of its table', async () => {
  const row = { model: 'fox/tales', prompt: 'Once upon a time', raw: true, tokens: 8 };
  const table = path.join(home.folder, 'table.json');
  const rows = [
    { ...row, contains: '^[a-z, ]+' },
    { ...row, contains: 'no model says this' },
    { ...row, model: 'fox/none', contains: 'x' },
  ];
  writeFileSync(table, JSON.stringify(rows));
  const child = spawn(process.execPath, [script, '--table', table, '--json'], { env: { ...process.env, ...home.env } });
  let out = '';
  child.stdout.on('data', (data: Buffer) => (out += data.toString()));
  const exit = await new Promise((resolve) => child.on('close', resolve));
  const results = JSON.parse(out) as { pass: boolean; text: string | null; error: string | null }[];
  expect({ exit, passes: results.map(({ pass }) => pass) }).toEqual({ exit: 1, passes: [true, false, false] });
  expect(results[1]).toMatchObject({ text: results[0]!.text, error: null });
  expect(results[2]!.error).toContain('KVAD_E_HUB_MODEL_ABSENT');
}, 90_000);
