import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KvadError } from '@kvad/core';
import { afterAll, describe, expect, it } from 'vitest';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';

const scratch = mkdtempSync(path.join(tmpdir(), 'kvad-shrinking-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});
const dist = path.resolve('core/dist');
const CLI = path.resolve('cli/bin/kvad.js');
const KEPT = 4096;

interface Ended {
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** A node process, and what has become of it. */
const start = (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const child = spawn(process.execPath, words, { env: { ...process.env, ...env } });
  child.stdin.on('error', () => undefined); // it may have ended already
  let [out, err] = ['', ''];
  child.stdout.on('data', (data: Buffer) => (out += data.toString()));
  child.stderr.on('data', (data: Buffer) => (err += data.toString()));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject).on('close', (exit, signal) => {
      resolve({ exit, signal, out, err });
    });
  });
  return { child, ended };
};
const play = (words: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended> =>
  start(words, env).ended;
const module = (source: string) => ['--input-type=module', '-e', source];

const words = (file: string, opened: number): KvadError =>
  new KvadError('KVAD_E_FILE_SHRANK', { file, opened, now: KEPT });
const asText = ({ message, hint, docs, code }: KvadError): string =>
  `error: ${message}\n  hint: ${hint}\n  docs: ${docs} (${code})\n`;
const asJson = ({ message, hint, docs, code }: KvadError): unknown => ({
  ...{ object: 'kvad.error', code, message, hint, docs },
});

/** Reads a mapped file, cuts it, and reads on. */
const readsOn = (file: string, before = ''): string[] =>
  module(`
    import { truncateSync } from 'node:fs';
    import { openBytes } from ${JSON.stringify(`${dist}/checkpoint/read.js`)};
    ${before}
    const bytes = openBytes(${JSON.stringify(file)}).read(0, 2 ** 20);
    truncateSync(${JSON.stringify(file)}, ${KEPT});
    console.log(bytes.reduce((sum, byte) => sum + byte, 0));`);

describe.runIf(loadAddon() !== null && process.platform === 'linux')('a mapped file that shrinks', () => {
  it.each(['weights.safetensors', String.raw`with "quotes", \u0001 and ü.safetensors`, 'weights.kvq'])(
    'ends the process with the error of the catalogue and exit code 1: %s',
    async (name) => {
      const file = path.join(scratch, name);
      writeFileSync(file, new Uint8Array(2 ** 20).fill(1));
      const text = await play(readsOn(file));
      expect(text).toEqual({ exit: 1, signal: null, out: '', err: asText(words(file, 2 ** 20)) });

      writeFileSync(file, new Uint8Array(2 ** 20).fill(1));
      const json = await play(
        readsOn(
          file,
          `import { sayErrorsAs } from ${JSON.stringify(`${dist}/errors/last-words.js`)}; sayErrorsAs({ KVAD_ERRORS: 'json' });`,
        ),
      );
      expect({ exit: json.exit, out: json.out }).toEqual({ exit: 1, out: '' });
      expect(json.err.split('\n')).toHaveLength(2);
      expect(JSON.parse(json.err)).toEqual(asJson(words(file, 2 ** 20)));
    },
  );

  it('that another one replaces is none: the old one is kept', async () => {
    const file = path.join(scratch, 'replaced.safetensors');
    writeFileSync(file, new Uint8Array(2 ** 20).fill(1));
    const source = `
      import { renameSync, writeFileSync } from 'node:fs';
      import { openBytes } from ${JSON.stringify(`${dist}/checkpoint/read.js`)};
      const bytes = openBytes(${JSON.stringify(file)}).read(0, 2 ** 20);
      writeFileSync(${JSON.stringify(`${file}.new`)}, 'short');
      renameSync(${JSON.stringify(`${file}.new`)}, ${JSON.stringify(file)});
      console.log(bytes.reduce((sum, byte) => sum + byte, 0));`;
    expect(await play(module(source))).toEqual({ exit: 0, signal: null, out: `${2 ** 20}\n`, err: '' });
  });

  /** A copy of the bundled model, with its cache as q8 made. */
  const place = async (name: string, quant: 'q8' | null) => {
    const model = path.join(scratch, `${name}-model`);
    const home = path.join(scratch, `${name}-home`);
    cpSync('cli/model', model, { recursive: true });
    const env = { XDG_CACHE_HOME: home };
    if (quant === null) return { model, env, file: path.join(model, 'model.safetensors') };
    const made = await play(
      [CLI, 'run', '--model', model, '--quant', quant, '--raw', '--prompt', 'a', '--max-tokens', '1'],
      env,
    );
    expect(made.exit).toBe(0);
    const folder = path.join(home, 'kvad/quant');
    return { model, env, file: path.join(folder, readdirSync(folder)[0]!) };
  };

  describe.each([
    ['as stored', null],
    ['as q8', 'q8'],
  ] as const)('under a model %s', (_, quant) => {
    it.each([1, 2])('and %i threads ends the process with the error', async (threads) => {
      const { model, env, file } = await place(`run-${quant}-${threads}`, quant);
      const opened = statSync(file).size;
      const source = `
        import { truncateSync } from 'node:fs';
        import { createEngine } from ${JSON.stringify(path.resolve('cli/dist/index.js'))};
        const model = await createEngine().load(${JSON.stringify(model)}, ${JSON.stringify({ quant, threads })});
        const session = await model.session();
        await session.prefill([5, 6, 7], { logits: 'last' });
        console.log('first');
        truncateSync(${JSON.stringify(file)}, ${KEPT});
        await session.prefill([8, 9], { logits: 'last' });
        console.log('second');`;
      const ended = await play(module(source), env);
      expect(ended).toEqual({ exit: 1, signal: null, out: 'first\n', err: asText(words(file, opened)) });
    });

    it('and a command that was to answer in JSON says so in one line of JSON', async () => {
      const { model, env, file } = await place(`json-${quant}`, quant);
      const opened = statSync(file).size;
      const precision = quant === null ? [] : ['--quant', quant];
      const command = [CLI, 'chat', '--model', model, '--greedy', '--max-tokens', '4', '--json', ...precision];
      const { child, ended } = start(command, env);
      // It waits for a turn when its weights are there.
      while (child.exitCode === null && !readFileSync(`/proc/${child.pid}/maps`, 'utf8').includes(file))
        await sleep(20);
      truncateSync(file, KEPT);
      child.stdin.write('Hello\n');
      const { exit, out, err } = await ended;
      expect({ exit, out }).toEqual({ exit: 1, out: '' });
      expect(JSON.parse(err)).toEqual(asJson(words(file, opened)));
    });
  });
});

describe.runIf(loadAddon() !== null && process.platform === 'linux')('other faults', () => {
  const mapped = `
    const { openBytes } = await import(${JSON.stringify(`${dist}/checkpoint/read.js`)});
    const bytes = openBytes('cli/model/model.safetensors').read(0, 2 ** 20);`;

  it.each(['SIGBUS', 'SIGSEGV'] as const)('end the process by the signal, as ever: %s', async (signal) => {
    const before = await play(
      module(`${mapped} process.kill(process.pid, '${signal}'); setTimeout(() => {}, 60_000);`),
    );
    expect(before).toEqual({ exit: null, signal, out: '', err: '' });
  });

  it('do so also after the thread that mapped a file has ended', async () => {
    const source = `
      import { Worker } from 'node:worker_threads';
      const worker = new Worker(${JSON.stringify(`void (async () => { ${mapped} })();`)}, { eval: true });
      await new Promise((resolve, reject) => worker.on('error', reject).on('exit', resolve));
      process.kill(process.pid, 'SIGBUS');
      setTimeout(() => {}, 60_000);`;
    expect(await play(module(source))).toEqual({ exit: null, signal: 'SIGBUS', out: '', err: '' });
  });

  it('are left to a handler that was there before', async () => {
    const source = `
      process.on('SIGBUS', () => { console.log('handled'); process.exit(7); });
      await import('node:timers/promises').then(({ setTimeout }) => setTimeout(50));
      ${mapped}
      process.kill(process.pid, 'SIGBUS');
      setTimeout(() => {}, 60_000);`;
    expect(await play(module(source))).toEqual({ exit: 7, signal: null, out: 'handled\n', err: '' });
  });

  it('of memory that is mapped by others are theirs', async () => {
    // A write into read-only weights: the system ends the process, and no sentence of ours covers it up.
    const source = `${mapped} bytes[0] = 1; console.log('written');`;
    const { exit, signal, out, err } = await play(module(source));
    expect({ exit, signal, out, err }).toEqual({ exit: null, signal: 'SIGSEGV', out: '', err: '' });
  });
});
