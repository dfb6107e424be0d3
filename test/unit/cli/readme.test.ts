import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');
const page = readFileSync(path.join(root, 'README.md'), 'utf8');
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, block = '']) => block);

const commands = blocks('sh')
  .flatMap((block) => block.trim().split('\n'))
  .map((line) => line.replace(/ #.*/, '').replace(/^npm install && /, ''));

/** `npx kvad` of a checkout is this. */
const sh = (command: string): { status: number | null; stdout: string; stderr: string } => {
  const line = command.replace(/^npx kvad/, `'${process.execPath}' cli/bin/kvad.js`);
  const { status, stdout, stderr } = spawnSync('bash', ['-c', line], { cwd: root, encoding: 'utf8' });
  return { status, stdout, stderr };
};

describe('the README', () => {
  it('has the two commands of a start, and three more', () => {
    expect(commands).toEqual([
      'npx kvad run --prompt "Tell me a story about a fox and a lantern"',
      'npm test',
      expect.stringMatching(/^npx kvad /),
      expect.stringMatching(/^npx kvad /),
      expect.stringMatching(/^npx kvad /),
    ]);
  });

  it.each(commands.filter((command) => command.startsWith('npx kvad')).map((command) => [command.trim()]))(
    '%s works',
    { timeout: 180_000 },
    (command) => {
      const { status, stdout, stderr } = sh(command);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout.length).toBeGreaterThan(200);
    },
  );

  it.each(blocks('js').map((block) => [block]))('its program works:\n%s', (program) => {
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd: root, encoding: 'utf8' });
    expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
    expect(run.stdout).toMatch(/^[ ,][\s\S]{40,}/);
  });
});
