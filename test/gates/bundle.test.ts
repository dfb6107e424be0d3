/** What is loaded when kvad starts (scripts/bundle.mjs): few files, and nothing that a run does not need. */
import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { at, packages } from './sources.js';

const START = 'cli/dist/start';
const textOf = (file: string): string => readFileSync(at(`${START}/${file}`), 'utf8');

/** A file and all that is loaded with it. */
const closure = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, name] of textOf(file).matchAll(/^(?:import|export)\b[^;]*?"\.\/([\w.-]+)"/gm)) closure(name!, seen);
  return seen;
};

describe.each([
  ['kvad.js', 12, 250_000],
  ['worker.js', 16, 950_000],
])('%s', (file, mostFiles, mostBytes) => {
  it('is a few files', () => {
    const files = closure(file);
    expect(files.size).toBeGreaterThan(1);
    expect(files.size).toBeLessThanOrEqual(mostFiles);
    expect([...files].reduce((sum, one) => sum + statSync(at(`${START}/${one}`)).size, 0)).toBeLessThan(mostBytes);
  });

  it('has no compiler of schemas in it', () => {
    for (const one of closure(file)) expect(textOf(one)).not.toContain('class Ajv');
  });
});

it('the command line starts without the engine', () => {
  const files = closure('kvad.js');
  for (const one of files) expect(textOf(one)).not.toMatch(/loadModel|createRegistry/);
});

it('each bundled plugin is there, with the one copy of what plugins import', () => {
  const plugins = packages().filter(({ folder }) => folder.startsWith('plugins/'));
  expect(plugins.length).toBeGreaterThan(0);
  for (const { name } of plugins) {
    const files = closure(`plugin-${name.replace('@kvad/', '')}.js`);
    for (const shared of closure('core-plugin.js')) {
      if (shared !== 'core-plugin.js' && textOf(shared).includes('definePlugin')) expect(files).toContain(shared);
    }
  }
});

it('names the licence of each package whose code it holds', () => {
  const notices = textOf('THIRD-PARTY.txt');
  for (const name of ['commander', 'tsyringe', 'reflect-metadata', 'semver', '@huggingface/tokenizers']) {
    expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, 'm'));
  }
});
