/** Threads that the system does not give, in a process of its own: its address space is limited when it has started. */
import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';

const isLimited = process.platform === 'linux' && spawnSync('prlimit', ['--version']).status === 0;

const SCRIPT = `
  import { execFileSync } from 'node:child_process';
  import { readdirSync, readFileSync } from 'node:fs';
  import { createEngine, loadAddon } from ${JSON.stringify(path.resolve('core/dist/kernels/native/addon.js'))};
  const addon = loadAddon();
  const attempt = (threads) => {
    try {
      addon.dispose(createEngine(addon, { threads, arenaBytes: 2 ** 20 }));
      return null;
    } catch ({ code, message }) {
      return { code, message };
    }
  };
  const unlimited = attempt(200);
  const bytes = 1024 * Number(/VmSize:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
  const before = readdirSync('/proc/self/task').length;
  // A thread has a stack of megabytes of address space.
  execFileSync('prlimit', ['--pid', String(process.pid), '--as=' + (bytes + 2 ** 27)]);
  const many = attempt(200);
  const after = readdirSync('/proc/self/task').length;
  console.log(JSON.stringify({ unlimited, many, left: after - before, few: attempt(2) }));`;

describe.runIf(loadAddon() !== null && isLimited)('threads that the system does not give', () => {
  it('are refused by the flag that asked for them; those that had begun end, and fewer can be had', () => {
    const out = execFileSync(process.execPath, ['--input-type=module', '-e', SCRIPT], { encoding: 'utf8' });
    const { unlimited, many, left, few } = JSON.parse(out) as Record<string, unknown>;
    expect(unlimited).toBeNull();
    expect(many).toMatchObject({ code: 'KVAD_E_OPTION' });
    expect((many as { message: string }).message).toContain('--threads is 200');
    expect({ left, few }).toEqual({ left: 0, few: null });
  });
});
