import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { $ } from 'zx';
import { at, read, readJson, root } from './sources.js';

const MINUTES = 60_000;
const readme = read('README.md');

/** The blocks of a language. */
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, text]) => text!);

const commands = blocks('sh')
  .flatMap((block) => block.split('\n'))
  .flatMap((line) => line.replace(/\s#\s.*$/, '').split('&&'))
  .map((command) => command.trim())
  .filter((command) => command !== '');

describe('the commands of the README', () => {
  it('are there', () => {
    expect(commands).toContain('npm install');
    expect(commands).toContain('npm test');
  });

  it.each(commands.filter((command) => command.startsWith('npm ')))('%s is a script or a verb of npm', (command) => {
    const [, verb] = command.split(' ');
    expect(['install', ...Object.keys(readJson('package.json')['scripts'] as object)]).toContain(verb);
  });

  it.each(commands.filter((command) => !command.startsWith('npm ')))(
    '%s does what it says',
    { timeout: 5 * MINUTES },
    async (command) => {
      expect(command).toMatch(/^npx kvad /);
      const run = $({ cwd: root, quiet: true, nothrow: true, stdio: ['ignore', 'pipe', 'pipe'] });
      const { exitCode, stdout, stderr } = await run`bash -c ${command}`;
      expect(exitCode, `${stdout}${stderr}`).toBe(0);
      expect(stdout).not.toBe('');
    },
  );
});

describe('the programs of the README', () => {
  const programs = blocks('ts').filter((text) => text.includes("from 'kvad'"));

  it('are there', () => {
    expect(programs.length).toBeGreaterThan(0);
  });

  it.each(programs)('%s', { timeout: 2 * MINUTES }, async (program) => {
    const { outputText } = ts.transpileModule(program, {
      compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
    });
    const file = at('test-results/readme/program.mjs');
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, outputText);
    const { stdout } = await $({ cwd: root, quiet: true })`node ${file}`;
    expect(stdout.length).toBeGreaterThan(50);
  });
});
