import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { at, readJson, repositoryFiles } from './sources.js';

const MEGABYTE = 1e6;
const files = repositoryFiles();

describe('the repository', () => {
  it('stays small enough to clone anywhere: under 40 MB', () => {
    const total = files.reduce((sum, file) => sum + statSync(at(file)).size, 0);
    expect(total / MEGABYTE).toBeLessThan(40);
  });

  it('names no path of the machine that it was written on', () => {
    const machinePath = /(?<![\w.$}~])\/(work|home\/\w+|root|Users\/\w+|mnt\/\w+|opt\/\w+env)\/[\w.-]+/;
    // Configs and templates under test/fixtures are kept as their publishers wrote them.
    expect(lines(machinePath).filter((line) => !line.startsWith('test/fixtures/'))).toEqual([]);
  });

  it('names no host that packages come from: the user’s npm settings decide', () => {
    const host = /https?:\/\/[^\s"'/]*(registry|artifactory|nexus|verdaccio)[^\s"'/]*/i;
    expect(lines(host)).toEqual([]);
    const locked = Object.values(readJson('package-lock.json')['packages'] as Record<string, { resolved?: string }>);
    expect(locked.map(({ resolved }) => resolved ?? '').filter((where) => /^https?:/.test(where))).toEqual([]);
  });
});

/** `file:line: text` of each line of a text file that matches. */
function lines(pattern: RegExp): string[] {
  return files
    .filter((file) => file !== 'test/gates/repository.test.ts')
    .flatMap((file) => {
      const bytes = readFileSync(at(file));
      if (bytes.subarray(0, 8192).includes(0)) return [];
      return bytes
        .toString('utf8')
        .split('\n')
        .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 120)}`] : []));
    });
}
