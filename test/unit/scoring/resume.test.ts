import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { CliPerplexity } from '@kvad/schemas';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { Progress } from '../../../core/dist/scoring/progress.js';
import { errorOf } from '../text/folders.js';
import { idsOf, TOY_FOLDER, toyFolder } from '../runtime/toy.js';

const kvad = path.resolve(import.meta.dirname, '../../../cli/bin/kvad.js');
const model = toyFolder({ fault: 'slow' });
const root = mkdtempSync(path.join(tmpdir(), 'kvad-resume-'));
afterAll(() => {
  for (const each of [model, root]) rmSync(each, { recursive: true });
});

let scratch = '';
const at = (name: string): string => path.join(scratch, name);
beforeEach(() => {
  scratch = mkdtempSync(path.join(root, 'run-'));
  writeFileSync(at('ids.json'), JSON.stringify(idsOf(320)));
});

const COMMON = ['perplexity', '--tokens', 'ids.json', '--model', model, '--plugin', TOY_FOLDER, '--ctx', '8', '--json'];

/** 40 windows; `killAfter`: windows after which it comes to a stop and is killed, without a chance to tidy up. */
const start = (
  words: readonly string[],
  killAfter = Infinity,
): Promise<{ exit: number | null; out: string; err: string }> =>
  new Promise((resolve) => {
    const env = { ...process.env, XDG_CACHE_HOME: at('cache'), KVAD_TOY_FORWARDS: String(killAfter + 1) };
    const child = spawn(process.execPath, [kvad, ...COMMON, ...words], { cwd: scratch, env });
    let [out, err] = ['', ''];
    child.stdout.on('data', (data: Buffer) => (out += data.toString()));
    child.stderr.on('data', (data: Buffer) => (err += data.toString()));
    const watch = setInterval(() => {
      if (windowsIn('out.json.progress') >= killAfter) child.kill('SIGKILL');
    }, 10);
    child.on('close', (exit) => {
      clearInterval(watch);
      resolve({ exit, out, err });
    });
  });

const windowsIn = (file: string): number =>
  existsSync(at(file)) ? readFileSync(at(file), 'utf8').split('\n').length - 2 : 0;

/** The same text but for what a clock said. */
const timeless = (json: string): string =>
  json.replaceAll(/"(seconds|elapsed_seconds|prefill_tokens_per_second)": [0-9.e+-]+/g, '"$1": 0');

describe('a run that is killed', () => {
  it('goes on with --resume: JSON and base are those of a run that was not, byte for byte but for times', async () => {
    const files = ['--output', 'out.json', '--kld-base-out', 'out.kld'];
    const killed = await start(files, 5);
    expect({ exit: killed.exit, out: killed.out }).toEqual({ exit: null, out: '' });
    const done = windowsIn('out.json.progress');
    expect([5, 6]).toContain(done);
    expect([existsSync(at('out.json')), existsSync(at('out.kld'))]).toEqual([false, false]);

    const resumed = await start([...files, '--resume']);
    expect(resumed.exit).toBe(0);
    const [json, base] = [readFileSync(at('out.json'), 'utf8'), readFileSync(at('out.kld'))];
    expect(existsSync(at('out.json.progress'))).toBe(false);

    const whole = await start([...files, '--force']);
    expect(whole.exit).toBe(0);
    expect(timeless(json)).toBe(timeless(readFileSync(at('out.json'), 'utf8')));
    expect(timeless(resumed.out)).toBe(timeless(whole.out));
    expect(base.equals(readFileSync(at('out.kld')))).toBe(true);
    expect((JSON.parse(json) as CliPerplexity).windows).toHaveLength(40);
  });

  it('is not mixed up with another: what differs is named', async () => {
    await start(['--output', 'out.json'], 2);
    const before = readFileSync(at('out.json.progress'), 'utf8');
    const { exit, err } = await start(['--output', 'out.json', '--resume', '--chunks', '7']);
    expect({ exit, err }).toEqual({ exit: 1, err: expect.stringContaining('KVAD_E_SCORING_RESUME') as string });
    expect(err).toContain('its number of windows was 40, now it is 7');
    expect(readFileSync(at('out.json.progress'), 'utf8')).toBe(before);
  });

  it('without --resume begins anew', async () => {
    await start(['--output', 'out.json'], 2);
    const { exit } = await start(['--output', 'out.json', '--chunks', '3']);
    expect(exit).toBe(0);
    expect((JSON.parse(readFileSync(at('out.json'), 'utf8')) as CliPerplexity).windows).toHaveLength(3);
  });
});

it('--resume where nothing was begun says so and scores everything', async () => {
  const { exit, out, err } = await start(['--chunks', '2', '--resume']);
  expect({ exit, err }).toEqual({
    exit: 0,
    err: expect.stringContaining('the run begins with its first window') as string,
  });
  expect((JSON.parse(out) as CliPerplexity).windows_scored).toBe(2);
});

describe('a progress file', () => {
  const identity = { ctx: 8, base: null };
  const outcome = (index: number) => ({ index, nll: { sum: 0.1 + 0.2, squares: Infinity }, seconds: 1, kld: null });
  const write = (...indices: number[]): string => {
    const file = at('windows.progress');
    Progress.begin(file, identity, indices.map(outcome)).close();
    return file;
  };

  it('gives back the same bits, infinities too', () => {
    expect(Progress.read(write(0, 1), identity)).toEqual([outcome(0), outcome(1)]);
  });

  it('ends before a line that was cut off, or that is not the next', () => {
    const file = write(0, 1, 2);
    const text = readFileSync(file, 'utf8');
    for (const cut of [1, 2, 20, 60]) {
      writeFileSync(file, text.slice(0, -cut));
      expect(Progress.read(file, identity)).toEqual([outcome(0), outcome(1)]);
    }
    expect(Progress.read(write(0, 2), identity)).toEqual([outcome(0)]);
  });

  it.each(['', '{"run', 'no JSON\n', '{}\n', '[]\n'])('that says of no run holds nothing: %j', (content) => {
    writeFileSync(at('windows.progress'), content);
    expect(Progress.read(at('windows.progress'), identity)).toEqual([]);
  });

  it('of another run is refused', async () => {
    const error = await errorOf(() => Progress.read(write(0), { ...identity, base: 'b.kld' }));
    expect(error).toMatchObject({
      code: 'KVAD_E_SCORING_RESUME',
      params: { what: 'base', before: 'null', now: 'b.kld' },
    });
  });
});
