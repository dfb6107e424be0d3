import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { completionScript } from '../../../cli/dist/commands/completion-scripts.js';
import { COMMAND_NAMES, COMMANDS } from '../../../cli/dist/commands/table.js';

/** What bash would offer for the last of these words. */
const bashOffers = (...words: string[]): string[] => {
  const script = `${completionScript('bash')}
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _kvad; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((word) => word !== '');
};

describe('bash completion', () => {
  it('offers commands, then their second words', () => {
    const firstWords = new Set(COMMAND_NAMES.map((name) => name.split(' ')[0]!));
    expect(bashOffers('kvad', '')).toEqual([...firstWords, 'help']);
    expect(bashOffers('kvad', 're')).toEqual(['render']);
    expect(bashOffers('kvad', 'arch', '')).toEqual(['show', 'plan', 'verify', 'check', 'new', 'add', 'remove', 'list']);
    expect(bashOffers('kvad', 'cache', '')).toEqual(['clear']);
  });

  it.each(COMMAND_NAMES.map((name) => [name]))('offers each flag of %s', (name) => {
    const offered = bashOffers('kvad', ...name.split(' '), '--');
    expect(offered).toEqual([...COMMANDS[name].flags.map((flag) => `--${flag.name}`), '--help']);
  });

  it('offers the choices of a flag and of an argument', () => {
    expect(bashOffers('kvad', 'run', '--quant', '')).toEqual(['f32', 'bf16', 'q8', 'q4']);
    expect(bashOffers('kvad', 'run', '-q', 'q')).toEqual(['q8', 'q4']);
    expect(bashOffers('kvad', 'completions', 'z')).toEqual(['zsh']);
  });

  it('offers the flags of run where there is no command word', () => {
    expect(bashOffers('kvad', '--max')).toEqual(['--max-tokens']);
  });

  it('offers folders for a model, and nothing after a flag that takes a text', () => {
    expect(bashOffers('kvad', 'run', '--model', '/us')).toEqual(['/usr']);
    expect(bashOffers('kvad', 'run', '--stop', '')).toEqual([]);
  });
});

describe.each(['zsh', 'fish'] as const)('%s completion', (shell) => {
  const script = completionScript(shell);

  it('has each command with what it does, and each flag', () => {
    for (const name of COMMAND_NAMES) {
      for (const word of name.split(' ')) expect(script).toContain(word);
      for (const flag of COMMANDS[name].flags) expect(script).toContain(flag.name);
    }
  });

  it('closes each quote', () => {
    const quotes = script.replace(/\\\\/g, '').replace(/'\\''/g, '').replace(/\\'/g, '').match(/'/g) ?? [];
    expect(quotes.length % 2).toBe(0);
  });
});
