import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { kernelWarnings } from '../../../core/dist/kernels/choose-ops.js';
import { loadAddon } from '../../../core/dist/kernels/native/addon.js';

const run = promisify(execFile);
const native = path.resolve('core/native');
const MINUTES = 60_000;

/** Where a program of that name lies, or null. */
const find = (name: string): string | null =>
  (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, name))
    .find((file) => existsSync(file)) ?? null;

const build = async (
  name: string,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> => {
  const program = path.join(native, 'build/check', name);
  const built = run(process.execPath, [path.join(native, 'build.mjs'), '--check', program, ...words], {
    env: { ...process.env, ...env },
  });
  await built;
  return program;
};

/** Kernel sets that a run of the program has held against the portable one. */
const checked = (output: string): string[] =>
  [...output.matchAll(/^(\w+): \d+ random shapes/gm)].map(([, name]) => name!);

describe.runIf(loadAddon() !== null && process.platform === 'linux')('the kernels, as a program of their own', () => {
  it(
    'agree with the portable ones, and neither AddressSanitizer nor UndefinedBehaviorSanitizer finds anything',
    async () => {
      const env = { KVAD_SANITIZE: 'address,undefined' };
      const program = await build('sanitized', [], env);
      const { stdout, stderr } = await run(program, ['40'], { env: { UBSAN_OPTIONS: 'halt_on_error=1' } });
      expect({ checked: checked(stdout), stderr }).toEqual({ checked: loadAddon()!.available.split(','), stderr: '' });
      expect(stdout).toContain('all agree with portable');
    },
    20 * MINUTES,
  );

  it.runIf(process.arch === 'x64')(
    'of AVX-512 and AVX-VNNI agree with the portable ones, their instructions spelled out, on any machine',
    async () => {
      const { stdout } = await run(await build('spelled', ['--spelled'], {}), ['40']);
      expect(checked(stdout)).toEqual(['avx512', 'avxvnni']);
      expect(stdout).toContain('all agree with portable');
    },
    20 * MINUTES,
  );

  const clang = find('clang++');
  it.runIf(clang !== null)(
    'agree with the portable ones when another compiler has made them; needs clang++',
    async () => {
      const { stdout } = await run(await build('clang', [], { CXX: clang! }), ['20']);
      expect(checked(stdout)).toEqual(loadAddon()!.available.split(','));
      expect(stdout).toContain('all agree with portable');
    },
    20 * MINUTES,
  );

  const compiler = find('aarch64-linux-gnu-g++');
  const emulator = find('qemu-aarch64');
  it.runIf(compiler !== null && emulator !== null)(
    'of arm64 (NEON and i8mm) agree with the portable ones under emulation; needs aarch64-linux-gnu-g++ and qemu-aarch64',
    async () => {
      const program = await build('arm64', ['--arch', 'arm64'], { CXX: compiler! });
      const { stdout } = await run(emulator!, ['-L', '/usr/aarch64-linux-gnu', program, '20']);
      expect(checked(stdout)).toEqual(['i8mm', 'neon', 'portable']);
      expect(stdout).toContain('all agree with portable');
    },
    20 * MINUTES,
  );
});

describe('kernels that compute something else', () => {
  it('are named in a warning, and there are none here', () => {
    expect(kernelWarnings({ distrusted: 'avx512,avx2' })).toEqual([
      expect.stringContaining('avx512 kernels do not compute what the portable ones do'),
      expect.stringContaining('avx2'),
    ]);
    expect(kernelWarnings()).toEqual([]);
    expect(kernelWarnings(null)).toEqual([]);
  });
});
