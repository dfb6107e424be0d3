import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { at, root } from './sources.js';

it('the generated types are those of the schemas', () => {
  const check = (): string =>
    execFileSync('node', [at('scripts/generate-types.mjs'), '--check'], { cwd: root, stdio: 'pipe' }).toString();
  expect(check()).toBe('');
});
