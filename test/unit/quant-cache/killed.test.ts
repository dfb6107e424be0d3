import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';
import { longerModel } from './longer-model.js';

const execute = promisify(execFile);
const CLI = path.resolve('cli/bin/kvad.js');
const scratch = mkdtempSync(path.join(tmpdir(), 'kvad-killed-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

/** Processes that are killed; docs/performance.md tells of 50 with a cache of 60 MB. */
const KILLS = Number(process.env['KVAD_TEST_KILLS'] ?? 4);
const LAYERS = Number(process.env['KVAD_TEST_KILL_LAYERS'] ?? 24);

describe.runIf(loadAddon() !== null)('a process that is killed while it quantises', () => {
  it(
    'never leaves a cache that differs from a whole one, wherever it was',
    async () => {
      const model = path.join(scratch, 'model');
      longerModel(model, LAYERS);
      const home = path.join(scratch, 'home');
      const env = { ...process.env, XDG_CACHE_HOME: home };
      const words = ['run', '--model', model, '--raw', '--prompt', 'Once upon a time', '--greedy', '--max-tokens', '3'];
      const command = [CLI, ...words, '--quant', 'q8', '--json'];
      const run = async (): Promise<string> => {
        const { stdout } = await execute(process.execPath, command, { env });
        const { text, warnings = [] } = JSON.parse(stdout) as { text: string; warnings?: string[] };
        return JSON.stringify([text, warnings]);
      };

      const expected = await run();
      const folder = path.join(home, 'kvad/quant');
      const [name] = readdirSync(folder);
      const file = path.join(folder, name!);
      const whole = readFileSync(file);
      const temporary = (): string | undefined => readdirSync(folder).find((other) => other !== name);
      const bytes = (of: string): number => statSync(of, { throwIfNoEntry: false })?.size ?? 0;

      const fell = { before: 0, writing: 0, renaming: 0, after: 0 };
      for (let kill = 0; kill < KILLS; kill++) {
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(folder, { recursive: true });
        const child = spawn(process.execPath, command, { env, stdio: 'ignore' });
        const gone = new Promise((resolve) => child.once('exit', resolve));
        // One in ten at any time before the file is there, one in five about its end, the others spread over the writing.
        const kind = kill % 10;
        if (kind === 9) await sleep(Math.random() * 600);
        else {
          const until = kind >= 7 ? whole.length : Math.random() * whole.length;
          const written = (): number => {
            const other = temporary();
            return other === undefined ? bytes(file) : bytes(path.join(folder, other));
          };
          while (child.exitCode === null && written() < until) await sleep(1);
          if (kind >= 7) await sleep(Math.random() * 20);
        }
        child.kill('SIGKILL');
        await gone;

        const left = temporary();
        const size = left === undefined ? 0 : bytes(path.join(folder, left));
        if (bytes(file) > 0) fell.after++;
        else if (left === undefined) fell.before++;
        else if (size === whole.length) fell.renaming++;
        else fell.writing++;
        if (bytes(file) > 0) expect(readFileSync(file).equals(whole)).toBe(true);

        expect(await run()).toBe(expected);
        expect(readFileSync(file).equals(whole)).toBe(true);
      }
      if (process.env['KVAD_TEST_KILLS'] !== undefined)
        process.stdout.write(`${JSON.stringify({ ...fell, bytes: whole.length })}\n`);
      // of many, else it would say little
      if (KILLS >= 20) expect(fell.writing).toBeGreaterThan(KILLS / 4);
    },
    300_000 + KILLS * 30_000,
  );
});
