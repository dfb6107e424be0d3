import type { Argument, Flag } from './flag.js';
import { ALWAYS } from './flags.js';
import { COMMAND_NAMES, COMMANDS, ENVIRONMENT, EXIT_CODES, type Command, type CommandName } from './table.js';

/** docs/cli.md, made from the table by `npm run generate`. */
export const referencePage = (): string =>
  [
    '# The command line',
    '',
    '<!-- Made from cli/src/commands/table.ts by `npm run generate`: change that file. -->',
    '',
    'The answer goes to stdout, everything else to stderr. `--json` prints one JSON object on stdout, whose schema is `schemas/json/cli-<command>.schema.json`; an error is then one line of JSON on stderr (`cli-error.schema.json`), and stdout stays empty. Colour and speed are shown on a terminal only.',
    '',
    'A model is a folder with `config.json` and safetensors files, or `owner/name[@revision]` of the Hub that `kvad pull` has put into the cache; without one it is the model that `kvad use` chose, else the one that ships with kvad.',
    '',
    '| command | does |',
    '|---|---|',
    ...COMMAND_NAMES.map(
      (name) => `| [\`kvad ${name}\`](#kvad-${name.replace(' ', '-')}) | ${cell(COMMANDS[name].about)} |`,
    ),
    '',
    ...COMMAND_NAMES.flatMap((name) => section(name, COMMANDS[name])),
    '## Flags that every command has',
    '',
    ...flagTable([...ALWAYS, { type: 'switch', name: 'help', short: 'h', about: 'show the help of the command' }]),
    '`kvad --version` prints the version.',
    '',
    '## Exit codes',
    '',
    '| code | means |',
    '|---|---|',
    ...EXIT_CODES.map(({ code, about }) => `| ${code} | ${cell(about)} |`),
    '',
    'A reader that goes away (`kvad run … | head -1`) is not an error.',
    '',
    '## Environment',
    '',
    '| variable | does |',
    '|---|---|',
    ...ENVIRONMENT.map(({ name, about }) => `| \`${name}\` | ${cell(about)} |`),
    '',
  ].join('\n');

const section = (name: CommandName, command: Command): string[] => {
  const always: readonly Flag[] = ALWAYS;
  const own = command.flags.filter((flag) => !always.some(({ name: other }) => other === flag.name));
  return [
    `## kvad ${name}`,
    '',
    `\`kvad ${[name, ...command.arguments.map(argumentWord), ...(own.length > 0 ? ['[flags]'] : [])].join(' ')}\`: ${command.about}.`,
    '',
    ...(command.details === undefined ? [] : [command.details, '']),
    ...(command.arguments.length === 0 ? [] : argumentTable(command.arguments)),
    ...(own.length === 0 ? [] : flagTable(own)),
    ...(command.examples.length === 0 ? [] : ['```sh', ...command.examples, '```', '']),
  ];
};

const argumentWord = ({ name, required, many }: Argument): string => {
  const word = `${name.toUpperCase()}${many === true ? '…' : ''}`;
  return required ? word : `[${word}]`;
};

const argumentTable = (list: readonly Argument[]): string[] => [
  '| argument | is |',
  '|---|---|',
  ...list.map((argument) => `| \`${argumentWord(argument)}\` | ${cell(argument.about)}${choices(argument.choices)} |`),
  '',
];

const flagTable = (flags: readonly Flag[]): string[] => [
  '| flag | does | default |',
  '|---|---|---|',
  ...flags.map((flag) => `| ${spelling(flag)} | ${cell(flag.about)}${valueWords(flag)} | ${cell(absent(flag))} |`),
  '',
];

const spelling = (flag: Flag): string => {
  const long = flag.type === 'switch' ? `--${flag.name}` : `--${flag.name} ${flag.value}`;
  return flag.short === undefined ? `\`${long}\`` : `\`-${flag.short}\`, \`${long}\``;
};

const absent = (flag: Flag): string => (flag.type === 'switch' ? '' : (flag.absent ?? ''));
const valueWords = (flag: Flag): string => (flag.type === 'switch' ? '' : choices(flag.choices));
const choices = (values: readonly string[] | undefined): string =>
  values === undefined ? '' : `: ${values.map((value) => `\`${value}\``).join(', ')}`;
const cell = (text: string): string => text.replaceAll('|', '\\|');
