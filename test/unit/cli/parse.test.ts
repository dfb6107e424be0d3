import { isKvadError } from '@kvad/core';
import { describe, expect, it } from 'vitest';
import { parse } from '../../../cli/dist/commands/parse.js';
import { COMMAND_NAMES, COMMANDS } from '../../../cli/dist/commands/table.js';

const given = (line: string): { name: string; args: unknown; options: Record<string, unknown> } => {
  const request = parse(line === '' ? [] : line.split(' '));
  if (request.kind !== 'command') throw new Error(`${line} asks for help`);
  return request.given as never;
};

const problem = (line: string): string => {
  try {
    parse(line.split(' '));
  } catch (error) {
    if (isKvadError(error) && error.code === 'KVAD_E_USAGE') return error.message;
    throw error;
  }
  throw new Error(`${line} was understood`);
};

describe('a command line', () => {
  it('gives a command its flags by name, numbers as numbers', () => {
    const { name, options } = given('run -p hello --top-k 5 --temperature 1e-1 --min-p .05 --greedy');
    expect(name).toBe('run');
    expect(options).toMatchObject({ prompt: 'hello', topK: 5, temperature: 0.1, minP: 0.05, greedy: true, raw: false });
    expect(options['maxTokens']).toBeUndefined();
  });

  it('collects a flag that is repeated', () => {
    expect(given('run -p x --stop a --stop b').options['stop']).toEqual(['a', 'b']);
    expect(given('run -p x').options['stop']).toEqual([]);
  });

  it('without a command word is one of run', () => {
    expect(given('--prompt x --raw')).toMatchObject({ name: 'run', options: { prompt: 'x', raw: true } });
  });

  it('turns a flag that begins with no- on when it is given', () => {
    expect(given('render --messages m.json --no-generation-prompt').options['noGenerationPrompt']).toBe(true);
    expect(given('render --messages m.json').options['noGenerationPrompt']).toBe(false);
  });

  it('finds two words of a command before one', () => {
    expect(given('arch').name).toBe('arch');
    expect(given('arch plan folder')).toMatchObject({ name: 'arch plan', args: { model: 'folder' } });
    expect(given('arch verify a b c')).toMatchObject({ name: 'arch verify', args: { folders: ['a', 'b', 'c'] } });
  });

  it('takes a text that looks like a flag after --', () => {
    expect(given('tokenize -- --raw').args).toEqual({ text: '--raw' });
  });
});

describe('help', () => {
  it.each(COMMAND_NAMES.map((name) => [name]))('of %s names each flag and argument', (name) => {
    const request = parse([...name.split(' '), '--help']);
    if (request.kind !== 'help') throw new Error('no help');
    for (const flag of COMMANDS[name].flags) expect(request.text).toContain(`--${flag.name}`);
    for (const argument of COMMANDS[name].arguments) expect(request.text).toContain(argument.name);
  });

  it('is what no words at all get, but it was not asked for', () => {
    expect(parse([])).toMatchObject({ kind: 'help', asked: false });
    expect(parse(['--help'])).toMatchObject({ kind: 'help', asked: true });
    expect(parse(['help', 'run'])).toMatchObject({ kind: 'help', asked: true });
  });
});

describe('what is not understood is refused with the word that is wrong', () => {
  it.each([
    ['nonsense', "unknown command 'nonsense'"],
    ['arch shwo x', "unknown command 'arch shwo'"],
    ['run --promt x', 'Did you mean --prompt?'],
    ['run -p x --top-k 1.5', 'Expected a whole number from 0'],
    ['run -p x --top-k -1', 'Expected a whole number from 0'],
    ['run -p x --top-p 1.01', 'Expected a number from 0 to 1'],
    ['run -p x --temperature NaN', 'Expected a number'],
    ['run -p x --temperature 0x10', 'Expected a number'],
    ['run -p x --quant q5', 'f32, bf16, q8, q4'],
    ['run -p', 'argument missing'],
    ['arch plan', "missing required argument 'model'"],
    ['arch verify', "missing required argument 'folders'"],
    ['info a b', 'too many arguments'],
    ['completions tcsh', 'bash, zsh, fish'],
  ])('%s', (line, words) => {
    expect(problem(line)).toContain(words);
  });
});
