import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  compile,
  PythonError,
  TemplateRaised,
  TemplateSyntaxError,
} from '../../../../core/dist/text/template/render.js';

/** What Python says of one template; `make_semantics.py` asked it. */
interface Case {
  readonly template: string;
  readonly rendered?: string;
  readonly error?: { readonly kind: string; readonly message: string };
}

const fromHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const { context, files } = JSON.parse(readFileSync(fromHere('../../../fixtures/templates/semantics.json'), 'utf8')) as {
  readonly context: Readonly<Record<string, unknown>>;
  readonly files: Readonly<Record<string, readonly Case[]>>;
};
const NOW = new Date(2026, 0, 2, 3, 4, 5);

/** The text, or the class of Python's exception that the template ends with. */
const outcome = (template: string): string => {
  try {
    return compile(template).render(context, NOW);
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return 'refused: TemplateSyntaxError';
    if (error instanceof TemplateRaised) return `refused: TemplateError ${error.message}`;
    if (error instanceof PythonError) return `refused: ${error.kind}`;
    throw error;
  }
};

/** Python has three classes for a template that is none. */
const SYNTAX = ['TemplateSyntaxError', 'TemplateAssertionError', 'SyntaxError'];

const expected = ({ rendered, error }: Case): string => {
  if (error === undefined) return rendered ?? '';
  const kind = SYNTAX.includes(error.kind) ? 'TemplateSyntaxError' : error.kind;
  return `refused: ${kind}${kind === 'TemplateError' ? ` ${error.message}` : ''}`;
};

describe.each(Object.entries(files))('%s does as Python', (_file, cases) => {
  it.each(cases.map((one) => [one.template, one] as const))('%j', (template, one) => {
    expect(outcome(template)).toBe(expected(one));
  });
});

it('every file of the language has templates of its own', () => {
  const source = fromHere('../../../../core/src/text/template/');
  const sources = ['language', 'python', 'builtins'].flatMap((folder) =>
    readdirSync(`${source}${folder}`).map((file) => `${folder}/${file.replace(/\.ts$/, '')}`),
  );
  // Types of trees and the class of one error hold nothing that runs by itself.
  const bare = ['language/nodes', 'language/syntax-error'];
  expect(Object.keys(files).sort()).toEqual(sources.filter((file) => !bare.includes(file)).sort());
});
