import { CommanderError } from 'commander';
import { KvadError } from '@kvad/core/errors';
import { buildProgram, type Given } from './program.js';
import { COMMAND_NAMES } from './table.js';

/** What the words of a command line ask for. */
export type Request =
  | { readonly kind: 'command'; readonly given: Given }
  | { readonly kind: 'help'; readonly text: string; readonly asked: boolean };

/** Reads a command line. Throws KVAD_E_USAGE. Without a command word, flags are those of `run`. */
export const parse = (argv: readonly string[]): Request => {
  const words = withCommandWord(argv);
  refuseUnknownSubcommand(words);

  let given: Given | null = null;
  let text = '';
  const program = buildProgram((command) => (given = command));
  const keep = (output: string): void => void (text += output);
  configureAll(program, keep);

  try {
    program.parse([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code.startsWith('commander.help')) return { kind: 'help', text, asked: words.length > 0 };
    throw new KvadError('KVAD_E_USAGE', { problem: sentenceOf(error), command: commandOf(words) });
  }
  if (given === null) throw new KvadError('KVAD_E_USAGE', { problem: 'no command was given', command: '' });
  return { kind: 'command', given };
};

const withCommandWord = (argv: readonly string[]): readonly string[] => {
  const [first] = argv;
  return first?.startsWith('-') === true && first !== '-h' && first !== '--help' ? ['run', ...argv] : argv;
};

/** Commander says "too many arguments" of `arch shwo`; the word is what is wrong. */
const refuseUnknownSubcommand = ([first, second]: readonly string[]): void => {
  const subcommands = COMMAND_NAMES.filter((name) => name.startsWith(`${first ?? ''} `)).map(
    (name) => name.split(' ')[1],
  );
  if (first === undefined || second === undefined || subcommands.length === 0) return;
  if (second.startsWith('-') || subcommands.includes(second) || second === 'help') return;
  throw new KvadError('KVAD_E_USAGE', {
    problem: `unknown command '${first} ${second}'; kvad ${first} has: ${subcommands.join(', ')}`,
    command: first,
  });
};

const configureAll = (command: ReturnType<typeof buildProgram>, keep: (text: string) => void): void => {
  command.exitOverride().configureOutput({ writeOut: keep, writeErr: keep, outputError: () => undefined });
  for (const child of command.commands) configureAll(child, keep);
};

/** `error: unknown option '--promt'\n(Did you mean --prompt?)` -> one line without its label. */
const sentenceOf = (error: CommanderError): string =>
  error.message
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .trim();

const commandOf = (words: readonly string[]): string => {
  const two = words.slice(0, 2).join(' ');
  const names: readonly string[] = COMMAND_NAMES;
  return names.includes(two) ? two : (names.find((name) => name === words[0]) ?? '');
};
