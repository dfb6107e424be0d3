import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { closeSync, cpSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const cli = path.resolve(import.meta.dirname, '../../../cli');
const kvad = path.join(cli, 'bin/kvad.js');

const start = (...words: string[]): ChildProcessWithoutNullStreams => spawn(process.execPath, [kvad, ...words]);

const outcome = (
  child: ChildProcessWithoutNullStreams,
): Promise<{ exit: number | null; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.on('close', (exit) => resolve({ exit, stdout, stderr }));
  });

const CPU = `process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  require('node:fs').writeSync(2, String(user + system));
});`;

/** The least of several runs of each, in turn, in time of the processor: what the programs take, whatever else it does. */
const least = (...programs: (readonly string[])[]): number[] => {
  const folder = mkdtempSync(path.join(tmpdir(), 'kvad-cpu-'));
  writeFileSync(path.join(folder, 'cpu.cjs'), CPU);
  const times = programs.map(() => Infinity);
  for (let round = 0; round < 8; round++) {
    programs.forEach((words, index) => {
      const all = ['--require', path.join(folder, 'cpu.cjs'), ...words];
      const { status, stderr } = spawnSync(process.execPath, all, { encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringMatching(/^\d+$/) as string });
      times[index] = Math.min(times[index]!, Number(stderr));
    });
  }
  rmSync(folder, { recursive: true });
  return times;
};

describe('kvad --version', () => {
  it('loads nothing but package.json', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'kvad-version-'));
    mkdirSync(path.join(folder, 'bin'));
    cpSync(path.join(cli, 'bin'), path.join(folder, 'bin'), { recursive: true });
    cpSync(path.join(cli, 'package.json'), path.join(folder, 'package.json'));
    const { status, stdout } = spawnSync(process.execPath, [path.join(folder, 'bin/kvad.js'), '--version'], {
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^kvad \d+\.\d+\.\d+\n$/) as string,
    });
  });

  it('takes little more than the start of Node itself', () => {
    const [version = Infinity, node = 0] = least([kvad, '--version'], ['-e', '0']);
    expect(version).toBeLessThan(1.5 * node);
  });
});

describe('Ctrl-C', () => {
  it('stops a generation, and what was made has been printed', async () => {
    // 594 tokens of the reference arithmetic, 1813 characters in some seconds.
    const sampling = ['--temperature', '2', '--top-k', '0', '--top-p', '1', '--seed', '37'];
    const words = ['run', '--raw', '--prompt', 'Once upon a time', '--max-tokens', '1000', ...sampling];
    const child = spawn(process.execPath, [kvad, ...words], { env: { ...process.env, KVAD_CPU: 'reference' } });
    child.stdout.once('data', () => child.kill('SIGINT'));
    const { exit, stdout, stderr } = await outcome(child);
    expect({ exit, stderr }).toEqual({ exit: 130, stderr: '' });
    expect(stdout).toMatch(/^[\s\S]+\n$/);
    expect(stdout.length).toBeLessThan(1000);
  });

  it('ends a chat that waits for the next line of a pipe', async () => {
    const child = start('chat', '--greedy', '--max-tokens', '4');
    child.stdin?.write('Who are you?\n');
    child.stderr?.on('data', (data: Buffer) => {
      if (data.toString().includes('tok/s')) child.kill('SIGINT');
    });
    const { exit, stdout } = await outcome(child);
    expect({ exit, stdout }).toEqual({ exit: 130, stdout: expect.stringMatching(/^I am a tiny[^\n]*\n$/) as string });
  });

  it('ends a command that waits for stdin', async () => {
    const child = start('tokenize', '-');
    const ended = outcome(child);
    // A signal before the handler is there ends the process by itself, which is also an end.
    const again = setInterval(() => child.kill('SIGINT'), 1500);
    const { stdout } = await ended;
    clearInterval(again);
    expect(stdout).toBe('');
  });
});

describe('a reader that goes away', () => {
  const pipe = (command: string): { out: string; status: string; err: string } => {
    const script = `set -o pipefail; { ${command}; } ; echo "status \${PIPESTATUS[0]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    return { out: stdout.replace(/status \d+\n$/, ''), status: /status (\d+)/.exec(stdout)?.[1] ?? '', err: stderr };
  };
  const quoted = `'${process.execPath}' '${kvad}'`;

  it('ends a generation quietly', () => {
    expect(pipe(`${quoted} run --raw --prompt 'Once upon a time' --max-tokens 1000 --greedy | head -c 2`)).toEqual({
      out: ', ',
      status: '0',
      err: '',
    });
  });

  it('is no error for a command that prints once', () => {
    expect(pipe(`${quoted} arch plan '${path.join(cli, 'model')}' --json | true`)).toEqual({
      out: '',
      status: '0',
      err: '',
    });
  });
});

describe.skipIf(!existsSync('/dev/full'))('a full disk behind stdout', () => {
  it.each([['arch'], ['run', '--raw', '--prompt', 'Once', '--max-tokens', '3']])('is an error of %s', (...words) => {
    const stdout = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [kvad, ...words], {
      stdio: ['ignore', stdout, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(stdout);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^error: cannot write stdout: the disk is full\n {2}hint: .*\n {2}docs: .*\n$/);
  });
});
