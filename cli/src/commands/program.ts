import { Argument as CommanderArgument, Command as CommanderCommand, InvalidArgumentError, Option } from 'commander';
import { camelCase, type Argument, type Flag, type ValueFlag } from './flag.js';
import {
  COMMAND_NAMES,
  COMMANDS,
  ENVIRONMENT,
  type Arguments,
  type Command,
  type CommandName,
  type Options,
} from './table.js';

/** A command as the user gave it. */
export interface Given<Name extends CommandName = CommandName> {
  readonly name: Name;
  readonly args: Arguments<Name>;
  readonly options: Options<Name>;
}

/** commander's commands, made from the table. `onCommand` gets the one that was given. */
export const buildProgram = (onCommand: (given: Given) => void): CommanderCommand => {
  const program = new CommanderCommand('kvad')
    .description('Runs open language models from their own checkpoints; every architecture is a plugin.')
    .option('-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', environmentHelp())
    .enablePositionalOptions();
  for (const name of COMMAND_NAMES) addCommand(program, name, onCommand);
  return program;
};

const addCommand = (program: CommanderCommand, name: CommandName, onCommand: (given: Given) => void): void => {
  const spec: Command = COMMANDS[name];
  const words = name.split(' ');
  const parent = words.slice(0, -1).reduce((at, word) => at.commands.find((c) => c.name() === word) ?? at, program);
  const command = parent
    .command(words.at(-1) ?? name)
    .description(spec.about)
    .enablePositionalOptions() // a flag behind the second word is the second word's: `arch plan … --json`
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', examplesHelp(spec));
  for (const argument of spec.arguments) command.addArgument(commanderArgument(argument));
  for (const flag of spec.flags) command.addOption(commanderOption(flag));

  command.action((...values: unknown[]) => {
    const args = Object.fromEntries(spec.arguments.map((argument, index) => [argument.name, values[index]]));
    const raw = command.opts();
    const options = Object.fromEntries(spec.flags.map((flag) => [camelCase(flag.name), optionValue(flag, raw)]));
    onCommand({ name, args, options } as unknown as Given);
  });
};

/** Commander keeps `--no-x` as `x: false`. */
const optionValue = (flag: Flag, raw: Readonly<Record<string, unknown>>): unknown => {
  if (flag.type !== 'switch') return raw[camelCase(flag.name)] ?? (flag.many === true ? [] : undefined);
  return flag.name.startsWith('no-')
    ? raw[camelCase(flag.name.slice(3))] === false
    : raw[camelCase(flag.name)] === true;
};

const commanderArgument = (argument: Argument): CommanderArgument => {
  const word = `${argument.name}${argument.many === true ? '...' : ''}`;
  const made = new CommanderArgument(argument.required ? `<${word}>` : `[${word}]`, argument.about);
  return argument.choices === undefined ? made : made.choices(argument.choices);
};

const commanderOption = (flag: Flag): Option => {
  const long = `${flag.short === undefined ? '' : `-${flag.short}, `}--${flag.name}`;
  if (flag.type === 'switch') return new Option(long, flag.about);
  const option = new Option(`${long} <${flag.value}>`, aboutWithDefault(flag));
  if (flag.choices !== undefined) return option.choices(flag.choices);
  if (flag.many === true) return option.argParser((value: string, before: string[] = []) => [...before, value]);
  return flag.type === 'integer' || flag.type === 'number'
    ? option.argParser((value) => parseNumber(flag, value))
    : option;
};

const aboutWithDefault = (flag: ValueFlag): string =>
  flag.absent === undefined ? flag.about : `${flag.about} (default: ${flag.absent})`;

const parseNumber = (flag: ValueFlag, text: string): number => {
  const shape = flag.type === 'integer' ? /^\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  const value = Number(text);
  const { min = -Infinity, max = Infinity } = flag;
  if (shape.test(text) && value >= min && value <= max) return value;
  throw new InvalidArgumentError(
    `Expected ${flag.type === 'integer' ? 'a whole number' : 'a number'} from ${String(min)} to ${String(max)}.`,
  );
};

const examplesHelp = (command: Command): string =>
  command.examples.length === 0 ? '' : `\nExamples:\n${command.examples.map((example) => `  ${example}`).join('\n')}`;

const environmentHelp = (): string => {
  const width = Math.max(...ENVIRONMENT.map(({ name }) => name.length));
  return `\nEnvironment:\n${ENVIRONMENT.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`).join('\n')}`;
};
