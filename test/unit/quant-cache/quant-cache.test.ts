import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';

const CLI = path.resolve('cli/bin/kvad.js');
const scratch = mkdtempSync(path.join(tmpdir(), 'kvad-quant-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

let homes = 0;
/** A cache folder of its own, and a copy of the bundled model. */
const place = () => {
  const home = path.join(scratch, `home-${(homes += 1)}`);
  const model = path.join(scratch, `model-${homes}`);
  cpSync('cli/model', model, { recursive: true });
  const env = { ...process.env, XDG_CACHE_HOME: home };
  const args = [
    'run',
    '--model',
    model,
    '--raw',
    '--prompt',
    'Once upon a time',
    '--greedy',
    '--max-tokens',
    '4',
    '--json',
  ];
  const run = (...more: string[]): { text: string; warnings: string } => {
    const result = execFileSync('node', [CLI, ...args, '--quant', 'q8', ...more], {
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    });
    const { text, warnings = [] } = JSON.parse(result) as { text: string; warnings?: string[] };
    return { text, warnings: warnings.join('\n') };
  };
  const folder = path.join(home, 'kvad', 'quant');
  return { env, args, run, model, folder, files: () => readdirSync(folder) };
};

describe.runIf(loadAddon() !== null)('the quant cache', () => {
  it('is written once, read back with the same result, and made anew with the reason when something differs', () => {
    const { run, model, folder, files } = place();
    const first = run();
    const [name] = files();
    expect(files()).toEqual([expect.stringMatching(/^local--model-\d+-[0-9a-f]{12}\.q8\.kvq$/)]);
    const file = path.join(folder, name!);
    const made = readFileSync(file);
    expect(run()).toEqual(first);
    expect(readFileSync(file).equals(made)).toBe(true);

    utimesSync(path.join(model, 'model.safetensors'), new Date(), new Date(1e12));
    expect(run().warnings).toContain('the files of the model have changed');
    expect(run().warnings).toBe(first.warnings);

    for (const [damage, reason] of [
      [() => truncateSync(file, made.length - 7), 'cut short'],
      [() => writeFileSync(file, 'KVAD'), 'cut short'],
      [() => writeFileSync(file, Buffer.alloc(1000, 7)), 'not of format version'],
    ] as const) {
      damage();
      const again = run();
      expect(again.warnings).toContain(reason);
      expect(again.text).toBe(first.text);
    }
    expect(files()).toEqual([name]);
  }, 240_000);
});
