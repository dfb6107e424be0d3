import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';

/** The sources of the addon, and nothing that was built. */
let place: string;
beforeEach(() => {
  place = mkdtempSync(path.join(tmpdir(), 'kvad-build-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  cpSync('core/native/build.mjs', path.join(place, 'build.mjs'));
  cpSync('core/native/src', path.join(place, 'src'), { recursive: true });
  symlinkSync(path.resolve('node_modules'), path.join(place, 'node_modules'));
});

const build = (env: Readonly<Record<string, string>>) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(place, 'build.mjs')], {
    // no folder of it has a compiler
    env: { PATH: place, ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr, addon: existsSync(path.join(place, 'build/kvad.node')) };
};

describe.runIf(process.platform !== 'win32')('the build of the addon', () => {
  it.each([
    ['no compiler', {}, 'no C++ compiler found (c++, g++, clang++): the reference ops will run, which are slow'],
    [
      'a CXX that is not there',
      { CXX: '/nonexistent' },
      'CXX is /nonexistent, which is not there: the reference ops will run, which are slow',
    ],
    [
      'KVAD_NATIVE=0',
      { KVAD_NATIVE: '0' },
      'native arithmetic is switched off (KVAD_NATIVE=0); the reference ops will run',
    ],
  ])('with %s succeeds and says so in one line', (_, env, line) => {
    expect(build(env)).toEqual({ status: 0, stdout: '', stderr: `kvad: ${line}\n`, addon: false });
  });

  it('with a compiler that fails succeeds, says why, and leaves no addon of other sources', () => {
    const compiler = path.join(place, 'compiler');
    writeFileSync(compiler, '#!/bin/sh\necho "cannot compile today" >&2\nexit 1\n', { mode: 0o755 });
    mkdirSync(path.join(place, 'build'));
    writeFileSync(path.join(place, 'build/kvad.node'), 'built from other sources');
    const { status, stderr, addon } = build({ PATH: process.env['PATH'] ?? '', CXX: compiler });
    expect({ status, addon }).toEqual({ status: 0, addon: false });
    const [line, ...reason] = stderr.split('\n');
    expect(line).toBe(`kvad: the native arithmetic did not compile with ${compiler}; the reference ops will run`);
    expect(reason).toContain('cannot compile today');
  });
});
