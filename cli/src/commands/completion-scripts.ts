import type { Argument, Flag } from './flag.js';
import { COMMAND_NAMES, COMMANDS, type Command, type CommandName } from './table.js';

/** Completion scripts of the three shells, made from the table. They are static: completing runs no kvad. */
export type Shell = 'bash' | 'zsh' | 'fish';

export const completionScript = (shell: Shell): string => SCRIPTS[shell]();

/** What may follow a flag or stand as an argument. */
type Values =
  | { readonly kind: 'choices'; readonly choices: readonly string[] }
  | { readonly kind: 'files' | 'folders' | 'nothing' };

const valuesOfFlag = (flag: Flag): Values => {
  if (flag.type === 'switch') return { kind: 'nothing' };
  if (flag.choices !== undefined) return { kind: 'choices', choices: flag.choices };
  if (flag.name === 'model' || flag.name === 'plugin') return { kind: 'folders' };
  return { kind: flag.type === 'file' ? 'files' : 'nothing' };
};

const valuesOfArgument = (argument: Argument | undefined): Values => {
  if (argument?.choices !== undefined) return { kind: 'choices', choices: argument.choices };
  if (argument?.type === 'folder') return { kind: 'folders' };
  return { kind: argument?.type === 'model' || argument?.type === 'file' ? 'files' : 'nothing' };
};

const commandsWithFlags = (): readonly (readonly [CommandName, Command])[] =>
  COMMAND_NAMES.map((name) => [name, COMMANDS[name]] as const);

const firstWords = (): string[] => [...new Set(COMMAND_NAMES.map((name) => name.split(' ')[0] ?? name)), 'help'];

const subcommandsOf = (word: string): string[] =>
  COMMAND_NAMES.filter((name) => name.startsWith(`${word} `)).map((name) => name.slice(word.length + 1));

const parents = (): string[] => firstWords().filter((word) => subcommandsOf(word).length > 0);

const spellings = (flag: Flag): string[] =>
  flag.short === undefined ? [`--${flag.name}`] : [`-${flag.short}`, `--${flag.name}`];

// --- bash ---------------------------------------------------------------------------------------

const bashReply = (values: Values): string => {
  if (values.kind === 'choices') return `COMPREPLY=($(compgen -W "${values.choices.join(' ')}" -- "$current"))`;
  if (values.kind === 'nothing') return 'COMPREPLY=()';
  return `COMPREPLY=($(compgen -${values.kind === 'folders' ? 'd' : 'f'} -- "$current"))`;
};

const bashCommand = ([name, command]: readonly [CommandName, Command]): string => {
  const withValue = command.flags.filter((flag) => flag.type !== 'switch');
  const cases = withValue.map(
    (flag) => `        ${spellings(flag).join('|')}) ${bashReply(valuesOfFlag(flag))}; return ;;`,
  );
  const words = [...command.flags.map((flag) => `--${flag.name}`), '--help'].join(' ');
  return [
    `    '${name}')`,
    `      case "$previous" in`,
    ...cases,
    '      esac',
    `      if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "${words}" -- "$current"))`,
    `      else ${bashReply(valuesOfArgument(command.arguments[0]))}; fi ;;`,
  ].join('\n');
};

const bash = (): string => `# bash completion of kvad: source <(kvad completions bash)
_kvad() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]}
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 && $current != -* ]]; then
    COMPREPLY=($(compgen -W "${firstWords().join(' ')}" -- "$current"))
    return
  fi
  case "$command" in
    -*) command=run ;;
${parents()
  .map(
    (word) => `    ${word})
      if [[ $COMP_CWORD -eq 2 && $current != -* ]]; then
        COMPREPLY=($(compgen -W "${subcommandsOf(word).join(' ')}" -- "$current"))
        return
      fi
      case "\${COMP_WORDS[2]}" in ${subcommandsOf(word).join('|')}) command="${word} \${COMP_WORDS[2]}" ;; esac ;;`,
  )
  .join('\n')}
  esac
  case "$command" in
${commandsWithFlags().map(bashCommand).join('\n')}
  esac
}
complete -o filenames -F _kvad kvad
`;

// --- zsh ----------------------------------------------------------------------------------------

/** Text within `'…'` of a spec of _arguments or _describe. */
const zshText = (text: string): string => text.replaceAll("'", `'\\''`).replace(/[[\]:]/g, (sign) => `\\${sign}`);

const zshAction = (values: Values): string => {
  if (values.kind === 'choices') return `(${values.choices.join(' ')})`;
  if (values.kind === 'nothing') return ' ';
  return values.kind === 'folders' ? '_files -/' : '_files';
};

const zshFlag = (flag: Flag): string[] =>
  spellings(flag).map((spelling) => {
    const repeat = flag.type !== 'switch' && flag.many === true ? '*' : '';
    const value = flag.type === 'switch' ? '' : `:${flag.value}:${zshAction(valuesOfFlag(flag))}`;
    return `'${repeat}${spelling}[${zshText(flag.about)}]${value}'`;
  });

const zshCommand = ([name, command]: readonly [CommandName, Command]): string => {
  const specs = command.flags.flatMap(zshFlag);
  const positional = command.arguments.map(
    (argument) => `'${argument.many === true ? '*' : ''}:${argument.name}:${zshAction(valuesOfArgument(argument))}'`,
  );
  return `    '${name}') _arguments ${[...specs, `'--help[show the help]'`, ...positional].join(' \\\n      ')} ;;`;
};

const zshChoices = (words: readonly string[], prefix: string): string =>
  words.map((word) => `'${word}:${zshText(aboutOf(`${prefix}${word}`))}'`).join(' ');

const aboutOf = (name: string): string =>
  name in COMMANDS ? COMMANDS[name as CommandName].about : name === 'help' ? 'help on a command' : name;

const zsh = (): string => `#compdef kvad
# zsh completion of kvad: source <(kvad completions zsh), or as _kvad in a folder of $fpath
_kvad() {
  local command=$words[2]
  local -a choices
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    choices=(${zshChoices(firstWords(), '')})
    _describe command choices
    return
  fi
  case $command in
    -*) command=run ;;
    *) shift words; (( CURRENT-- )) ;;
  esac
  case $command in
${parents()
  .map(
    (word) => `    ${word})
      if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
        choices=(${zshChoices(subcommandsOf(word), `${word} `)})
        _describe command choices
        return
      fi
      case $words[2] in ${subcommandsOf(word).join('|')}) command="${word} $words[2]"; shift words; (( CURRENT-- )) ;; esac ;;`,
  )
  .join('\n')}
  esac
  case $command in
${commandsWithFlags().map(zshCommand).join('\n')}
  esac
}
if [[ $funcstack[1] == _kvad ]]; then _kvad "$@"; else compdef _kvad kvad; fi
`;

// --- fish ---------------------------------------------------------------------------------------

const fishText = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const fishValues = (values: Values): string => {
  if (values.kind === 'choices') return ` -x -a ${fishText(values.choices.join(' '))}`;
  if (values.kind === 'nothing') return ' -x';
  return values.kind === 'folders' ? " -x -a '(__fish_complete_directories)'" : ' -r';
};

const seen = (words: string): string => `__fish_seen_subcommand_from ${words}`;

const fishCondition = (name: CommandName): string => {
  const [first = name, second] = name.split(' ');
  if (second !== undefined) return `${seen(first)}; and ${seen(second)}`;
  if (first === 'run') return `${seen(first)}; or __fish_use_subcommand`; // flags without a command word are those of run
  const others = subcommandsOf(first);
  return `${seen(first)}${others.length > 0 ? `; and not ${seen(others.join(' '))}` : ''}`;
};

const fishCommand = ([name, command]: readonly [CommandName, Command]): string[] => {
  const start = `complete -c kvad -n ${fishText(fishCondition(name))}`;
  const flags = command.flags.map((flag) => {
    const short = flag.short === undefined ? '' : ` -s ${flag.short}`;
    return `${start}${short} -l ${flag.name}${flag.type === 'switch' ? '' : fishValues(valuesOfFlag(flag))} -d ${fishText(flag.about)}`;
  });
  const values = valuesOfArgument(command.arguments[0]);
  return values.kind === 'nothing'
    ? flags
    : [...flags, `${start}${values.kind === 'choices' ? fishValues(values) : ' -F'}`];
};

const fish = (): string =>
  [
    '# fish completion of kvad: kvad completions fish > ~/.config/fish/completions/kvad.fish',
    'complete -c kvad -f',
    ...firstWords().map((word) => `complete -c kvad -n __fish_use_subcommand -a ${word} -d ${fishText(aboutOf(word))}`),
    ...parents().flatMap((word) =>
      subcommandsOf(word).map(
        (sub) =>
          `complete -c kvad -n ${fishText(fishCondition(word as CommandName))} -a ${sub} -d ${fishText(aboutOf(`${word} ${sub}`))}`,
      ),
    ),
    ...commandsWithFlags().flatMap(fishCommand),
    '',
  ].join('\n');

const SCRIPTS: Readonly<Record<Shell, () => string>> = { bash, zsh, fish };
