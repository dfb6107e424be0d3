import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { CATALOG } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { referencePage } from '../../../cli/dist/commands/reference-page.js';
import { COMMAND_NAMES } from '../../../cli/dist/commands/table.js';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const catalogue = readdirSync(path.join(root, 'core/src/errors/catalog')).map(
  (file) => `core/src/errors/catalog/${file}`,
);

describe('docs/cli.md', () => {
  it('is what the table of commands makes (npm run generate)', () => {
    expect(read('docs/cli.md')).toBe(referencePage());
  });
});

describe('docs/errors.md', () => {
  const page = read('docs/errors.md');
  const sections = [...page.matchAll(/^### (KVAD_E_\w+)\n([\s\S]*?)(?=^#|(?![\s\S]))/gm)];

  it('has one section for each code of the catalogue, and no other', () => {
    expect(sections.map(([, code]) => code).sort()).toEqual(Object.keys(CATALOG).sort());
  });

  it('says something in each', () => {
    expect(sections.filter(([, , text = '']) => text.trim().length < 20).map(([, code]) => code)).toEqual([]);
  });
});

describe('commands that texts name', () => {
  const words = [...COMMAND_NAMES.map((name) => name.split(' ')[0]), 'COMMAND'];
  const unknown = (text: string): string[] =>
    [...text.matchAll(/\bkvad ((?:[a-z]+|[A-Z]{4,})(?: [a-z]+)?)/g)]
      .map(([, found = '']) => found)
      .filter((found) => {
        const [first = '', second] = found.split(' ');
        if (!words.includes(first))
          return /^(run|pull|ls|use|rm|chat|search|bench|cache|doctor|serve|perplexity)$/.test(first);
        const two = `arch ${second ?? ''}`;
        return (
          first === 'arch' && /^arch (add|remove|new|check)$/.test(two) && !COMMAND_NAMES.some((name) => name === two)
        );
      });

  it.each([
    ...catalogue.map((file) => [file]),
    ['README.md'],
    ['docs/errors.md'],
    ['docs/ARCHITECTURE.md'],
    ['CONTRIBUTING.md'],
  ])('of %s exist', (file) => {
    expect(unknown(read(file))).toEqual([]);
  });
});

describe('README.md', () => {
  const page = read('README.md');

  it('shows the real family', () => {
    const source = read('plugins/dense/src/families/qwen3.ts');
    const family = source.slice(source.indexOf('export const')).trimEnd();
    expect(page).toContain(`\`\`\`ts\n${family}\n\`\`\``);
  });
});

describe('links', () => {
  it.each([['README.md'], ['CONTRIBUTING.md'], ['docs/ARCHITECTURE.md']])(
    'of %s lead to files that are there',
    (file) => {
      const targets = [...read(file).matchAll(/\]\(([^)#]+)\)/g)].map(([, target = '']) => target);
      expect(targets.filter((target) => !existsSync(path.join(root, path.dirname(file), target)))).toEqual([]);
    },
  );
});
